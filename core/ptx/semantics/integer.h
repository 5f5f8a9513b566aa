// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What PTX's instructions on integers and bits compute (PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift
// Instructions"): one function of C++ integers each, and the only place that says so. The interpreter runs these functions
// over a warp's lanes; the proof, the checker and the static traces ask them for single values (semantics/evaluate.h).
// integer.def says which instruction is which function, and of which types.
//
// T is the instruction's type: unsigned of b8 to b64 as well. A function that takes a Control as its last parameter needs
// what is written in the instruction beside its operands. is_lane_by_lane: no compiler makes vector code of it.
//
// All are inlined wherever they are used, unoptimised builds included: the interpreter's loops are compiled once for each
// kind of processor, and a function of its own might be kept in the copy that an older processor cannot run.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/ptx/comparison.h"

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
// Modes of prmt, as Control::bits.
enum class PermuteMode : u8 { index, f4e, b4e, rc8, ecl, ecr, rc16 };

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
[[nodiscard, gnu::always_inline]] constexpr s32 saturated(s64 a) {
    constexpr s64 least = -(s64{1} << 31), most = (s64{1} << 31) - 1;
    return static_cast<s32>(a < least ? least : a > most ? most : a);
}

struct Add {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
    }
};
struct AddSaturating {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return saturated(s64{a} + b);
    }
};
struct Subtract {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
    }
};
struct SubtractSaturating {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return saturated(s64{a} - b);
    }
};
struct Multiply {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
    }
};
struct MultiplyWide {
    template <class T>
    TRIMTAB_SEMANTICS Twice<T> of(T a, T b) {
        return static_cast<Twice<T>>(static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b));
    }
};
struct MultiplyHigh {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(MultiplyWide::of<T>(a, b) >> bits_of<T>);
    }
};
struct MultiplyAdd {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c) {
        return Add::of<T>(Multiply::of<T>(a, b), c);
    }
};
struct MultiplyHighAdd {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c) {
        return Add::of<T>(MultiplyHigh::of<T>(a, b), c);
    }
};
struct MultiplyHighAddSaturating {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c) {
        return saturated(s64{MultiplyHigh::of<T>(a, b)} + c);
    }
};
struct MultiplyWideAdd {
    template <class T>
    TRIMTAB_SEMANTICS Twice<T> of(T a, T b, Twice<T> c) {
        return Add::of<Twice<T>>(MultiplyWide::of<T>(a, b), c);
    }
};
// The product of 24 bits each has 48: lo are its lower 32, hi its upper 32.
struct Multiply24 {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return Multiply::of<T>(low_bits(a, 24), low_bits(b, 24));
    }
};
struct Multiply24High {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(MultiplyWide::of<T>(low_bits(a, 24), low_bits(b, 24)) >> 16);
    }
};
struct Multiply24Add {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c) {
        return Add::of<T>(Multiply24::of<T>(a, b), c);
    }
};
struct Multiply24HighAdd {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c) {
        return Add::of<T>(Multiply24High::of<T>(a, b), c);
    }
};
struct Multiply24HighAddSaturating {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c) {
        return saturated(s64{Multiply24High::of<T>(a, b)} + c);
    }
};
// By zero, which PTX leaves open, quotient and remainder are all ones, whatever their width and sign: the code that
// ptxas makes says so (`@!P LOP3.LUT R0, RZ, divisor, RZ, 0x33`, and MOV or SEL of -1 in its functions for 16 and 64
// bits), and so do constants that it folds. The least number by -1 wraps.
struct Divide {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return Subtract::of<T>(0, a);
        return static_cast<T>(a / b);
    }
};
struct Remainder {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return 0;
        return static_cast<T>(a % b);
    }
};
struct Minimum {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return a < b ? a : b;
    }
};
struct Maximum {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return a > b ? a : b;
    }
};
// .relu
template <class F>
struct OrZero {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return Maximum::of<T>(F::template of<T>(a, b), 0);
    }
};
// Two numbers of T in one register, each for itself.
template <class F>
struct Packed {
    template <class T>
    TRIMTAB_SEMANTICS u32 of(u32 a, u32 b) {
        const auto low = F::template of<T>(static_cast<T>(a), static_cast<T>(b));
        const auto high = F::template of<T>(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
        return u32{static_cast<u16>(high)} << 16 | static_cast<u16>(low);
    }
};
struct Negate {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a) {
        return Subtract::of<T>(0, a);
    }
};
struct Absolute {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a) {
        return a < 0 ? Negate::of<T>(a) : a;
    }
};
struct AbsoluteDifferenceAdd {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c) {
        return Add::of<T>(a < b ? Subtract::of<T>(b, a) : Subtract::of<T>(a, b), c);
    }
};

struct And {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};
struct Not {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a) {
        return static_cast<T>(~a);
    }
};
struct LogicalNot {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a) {
        return a == 0 ? T{1} : T{0};
    }
};
// The truth table is indexed by the bits of a, b and c.
struct LookUp3 {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, T c, Control table) {
        const T low = (~b & pick<T>(table, 0, c)) | (b & pick<T>(table, 2, c));
        const T high = (~b & pick<T>(table, 4, c)) | (b & pick<T>(table, 6, c));
        return (~a & low) | (a & high);
    }

  private:
    template <class T>
    TRIMTAB_SEMANTICS T pick(Control table, unsigned row, T c) {
        const T no = table.has(u64{1} << row) ? ~T{0} : T{0}, yes = table.has(u64{2} << row) ? ~T{0} : T{0};
        return (~c & no) | (c & yes);
    }
};

// Shift amounts above the width count as the width.
struct ShiftLeft {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, u32 b) {
        return b >= bits_of<T> ? T{0} : static_cast<T>(Wrapping<T>(a) << b);
    }
};
struct ShiftRight {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, u32 b) {
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(a >> (b >= bits_of<T> ? bits_of<T> - 1 : b));
        else
            return b >= bits_of<T> ? T{0} : static_cast<T>(a >> b);
    }
};
[[nodiscard, gnu::always_inline]] constexpr u32 amount_of_32(u32 amount, Control control) {
    return control.has(Control::clamp) ? (amount < 32 ? amount : 32) : amount & 31;
}
struct FunnelLeft {
    template <class T>
    TRIMTAB_SEMANTICS T of(T low, T high, u32 amount, Control control) {
        const u32 n = amount_of_32(amount, control);
        const u64 both = (static_cast<u64>(high) << 32) | low;
        return n == 32 ? low : static_cast<T>((both << n) >> 32);
    }
};
struct FunnelRight {
    template <class T>
    TRIMTAB_SEMANTICS T of(T low, T high, u32 amount, Control control) {
        const u32 n = amount_of_32(amount, control);
        const u64 both = (static_cast<u64>(high) << 32) | low;
        return n == 32 ? high : static_cast<T>(both >> n);
    }
};

struct PopulationCount {
    template <class T>
    TRIMTAB_SEMANTICS u32 of(T a) {
        if constexpr (sizeof(T) == 8)
            return static_cast<u32>(__builtin_popcountll(a));
        else
            return static_cast<u32>(__builtin_popcount(a));
    }
};
struct LeadingZeros {
    template <class T>
    TRIMTAB_SEMANTICS u32 of(T a) {
        if (a == 0) return bits_of<T>;
        if constexpr (sizeof(T) == 8)
            return static_cast<u32>(__builtin_clzll(a));
        else
            return static_cast<u32>(__builtin_clz(a));
    }
};
// The place of the first bit that is not the sign's, from below or, with .shiftamt, from above.
struct FindLeading {
    template <class T>
    TRIMTAB_SEMANTICS u32 of(T a, Control control) {
        using U = std::make_unsigned_t<T>;
        const u32 zeros = LeadingZeros::of<U>(static_cast<U>(a < 0 ? ~a : a));
        if (zeros == bits_of<T>) return ~u32{0};
        return control.has(Control::shift_amount) ? zeros : bits_of<T> - 1 - zeros;
    }
};
struct FindNthSet {  // the n-th set bit at or above, or with a negative offset below, a base
    static constexpr bool is_lane_by_lane = true;
    template <class T>
    TRIMTAB_SEMANTICS u32 of(T mask, u32 base, s32 offset) {
        if (base >= 32) return ~u32{0};
        if (offset == 0) return (mask >> base & 1) != 0 ? base : ~u32{0};
        s64 left = offset > 0 ? s64{offset} : -s64{offset};
        for (s32 at = static_cast<s32>(base); at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
            if ((mask >> at & 1) != 0 && --left == 0) return static_cast<u32>(at);
        return ~u32{0};
    }
};
struct ReverseBits {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a) {
        T r = a;
        if constexpr (sizeof(T) == 8) {
            r = (r >> 32) | (r << 32);
            r = ((r & 0xffff0000ffff0000u) >> 16) | ((r & 0x0000ffff0000ffffu) << 16);
        } else {
            r = (r >> 16) | (r << 16);
        }
        r = ((r & static_cast<T>(0xff00ff00ff00ff00u)) >> 8) |
            ((r & static_cast<T>(0x00ff00ff00ff00ffu)) << 8);
        r = ((r & static_cast<T>(0xf0f0f0f0f0f0f0f0u)) >> 4) |
            ((r & static_cast<T>(0x0f0f0f0f0f0f0f0fu)) << 4);
        r = ((r & static_cast<T>(0xccccccccccccccccu)) >> 2) |
            ((r & static_cast<T>(0x3333333333333333u)) << 2);
        return ((r & static_cast<T>(0xaaaaaaaaaaaaaaaau)) >> 1) |
               ((r & static_cast<T>(0x5555555555555555u)) << 1);
    }
};
// Of places and lengths 8 bits count. Bits beyond the register repeat its sign, as does the field's own uppermost bit.
struct ExtractField {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, u32 position, u32 length) {
        const u32 pos = position & 0xff, len = length & 0xff;
        if (len == 0) return 0;
        const T field = ShiftRight::of<T>(a, pos);
        const u32 up = len < bits_of<T> ? bits_of<T> - len : 0;
        return static_cast<T>(static_cast<T>(static_cast<Wrapping<T>>(field) << up) >> up);
    }
};
struct InsertField {
    template <class T>
    TRIMTAB_SEMANTICS T of(T field, T into, u32 position, u32 length) {
        const u32 pos = position & 0xff, len = length & 0xff;
        const T ones = len < bits_of<T> ? static_cast<T>((T{1} << len) - 1) : static_cast<T>(~T{0});
        const T mask = ShiftLeft::of<T>(ones, pos);
        return (into & ~mask) | (ShiftLeft::of<T>(field, pos) & mask);
    }
};
struct BitMask {
    template <class T>
    TRIMTAB_SEMANTICS T of(T position, u32 length, Control control) {
        const u32 pos = amount_of_32(position, control), len = amount_of_32(length, control);
        return ShiftLeft::of<T>(static_cast<T>((u64{1} << len) - 1), pos);
    }
};
struct SignOrZeroExtend {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, u32 length, Control control) {
        return low_bits(a, amount_of_32(length, control));
    }
};
struct Permute {
    static constexpr bool is_lane_by_lane = true;
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, u32 c, Control mode) {
        const u64 both = (static_cast<u64>(b) << 32) | a;
        const u32 s = c & 3;
        T out = 0;
        for (u32 i = 0; i < 4; i++) {
            u32 at = c >> (4 * i);
            bool is_sign = (at & 8) != 0;
            switch (static_cast<PermuteMode>(mode.bits)) {
                case PermuteMode::index:
                    break;
                case PermuteMode::f4e:
                    at = s + i;
                    break;
                case PermuteMode::b4e:
                    at = s + 8 - i;
                    break;
                case PermuteMode::rc8:
                    at = s;
                    break;
                case PermuteMode::ecl:
                    at = i > s ? i : s;
                    break;
                case PermuteMode::ecr:
                    at = i < s ? i : s;
                    break;
                case PermuteMode::rc16:
                    at = ((s & 1) << 1) + (i & 1);
                    break;
            }
            if (static_cast<PermuteMode>(mode.bits) != PermuteMode::index) is_sign = false;
            const u32 byte = both >> (8 * (at & 7)) & 0xff;
            out |= (is_sign ? (byte >> 7) * 0xff : byte) << (8 * i);
        }
        return out;
    }
};

// Products of parts of a, whose sign is T's, and of b, and their sum with c.
struct DotOf4 {
    template <class T>
    TRIMTAB_SEMANTICS u32 of(T a, u32 b, u32 c, Control control) {
        using Byte = typename IntegerOf<8, std::is_signed_v<T>>::Type;
        for (u32 i = 0; i < 32; i += 8) {
            const s32 y =
                control.has(Control::b_is_signed) ? s32{static_cast<s8>(b >> i)} : static_cast<u8>(b >> i);
            c += static_cast<u32>(s32{static_cast<Byte>(a >> i)} * y);
        }
        return c;
    }
};
struct DotOf2 {
    template <class T>
    TRIMTAB_SEMANTICS u32 of(T a, u32 b, u32 c, Control control) {
        using Half = typename IntegerOf<16, std::is_signed_v<T>>::Type;
        if (control.has(Control::upper_half)) b >>= 16;
        for (u32 i = 0; i < 2; i++) {
            const u32 part = b >> (8 * i);
            const s32 y =
                control.has(Control::b_is_signed) ? s32{static_cast<s8>(part)} : static_cast<u8>(part);
            c += static_cast<u32>(s32{static_cast<Half>(a >> (16 * i))} * y);
        }
        return c;
    }
};

struct Compare {
    template <class T>
    TRIMTAB_SEMANTICS bool of(T a, T b, Control comparison) {
        return holds(static_cast<Comparison>(comparison.bits), a, b);
    }
};
struct Select {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, bool c) {
        return c ? a : b;
    }
};
struct SelectBySign {
    template <class T>
    TRIMTAB_SEMANTICS T of(T a, T b, s32 c) {
        return c >= 0 ? a : b;
    }
};

}  // namespace trimtab::ptx::semantics

#undef TRIMTAB_SEMANTICS
