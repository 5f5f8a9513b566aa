// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ integers that the functions of integer.h and bits.h compute in.
#pragma once

#include <cstdint>
#include <type_traits>

// Of such a function: inlined wherever it is used, unoptimised builds included. The interpreter's loops are compiled once
// for each kind of processor, and a function of its own might be kept in the copy that an older processor cannot run.
#define TRIMTAB_SEMANTICS [[nodiscard, gnu::always_inline]] static constexpr

namespace trimtab::ptx::semantics {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// What an instruction's mnemonic or its literals say: lop3's table, prmt's mode, setp's comparison, and flags.
struct Control {
    u64 bits = 0;
    static constexpr u64 clamp = 1;         // shf, bmsk, szext: amounts beyond 32 count as 32; else modulo 32
    static constexpr u64 shift_amount = 1;  // bfind
    static constexpr u64 b_is_signed = 1;   // dp2a, dp4a
    static constexpr u64 upper_half = 2;    // dp2a.hi
    [[nodiscard, gnu::always_inline]] constexpr bool has(u64 flag) const { return (bits & flag) != 0; }
};

template <class T>
inline constexpr unsigned bits_of = sizeof(T) * 8;

template <unsigned bits, bool is_signed>
struct IntegerOf;
// clang-format off
template <> struct IntegerOf<8, false> { using Type = u8; };
template <> struct IntegerOf<8, true> { using Type = s8; };
template <> struct IntegerOf<16, false> { using Type = u16; };
template <> struct IntegerOf<16, true> { using Type = s16; };
template <> struct IntegerOf<32, false> { using Type = u32; };
template <> struct IntegerOf<32, true> { using Type = s32; };
template <> struct IntegerOf<64, false> { using Type = u64; };
template <> struct IntegerOf<64, true> { using Type = s64; };
template <> struct IntegerOf<128, false> { using Type = unsigned __int128; };
template <> struct IntegerOf<128, true> { using Type = __int128; };
// clang-format on
template <class T>
using Twice = typename IntegerOf<2 * bits_of<T>, std::is_signed_v<T>>::Type;

// Arithmetic wraps: done in unsigned types of at least 32 bits, so that nothing overflows.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, u64, u32>;

// The low `bits` of a number, as T reads them.
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T low_bits(T a, unsigned bits) {
    if (bits >= bits_of<T>) return a;
    if (bits == 0) return 0;
    const unsigned up = bits_of<T> - bits;
    return static_cast<T>(static_cast<T>(static_cast<Wrapping<T>>(a) << up) >> up);
}

}  // namespace trimtab::ptx::semantics
