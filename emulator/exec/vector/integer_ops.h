// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one lane of an integer or logic instruction computes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "emulator/exec/op.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
inline constexpr unsigned bits_of = sizeof(T) * 8;
template <class T>
struct Twice;
template <>
struct Twice<u16> {
    using Type = u32;
};
template <>
struct Twice<s16> {
    using Type = s32;
};
template <>
struct Twice<u32> {
    using Type = u64;
};
template <>
struct Twice<s32> {
    using Type = s64;
};
template <>
struct Twice<u64> {
    using Type = unsigned __int128;
};
template <>
struct Twice<s64> {
    using Type = __int128;
};

// Arithmetic wraps: done in unsigned types of at least 32 bits, so that nothing overflows.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T>
T high_part(T a, T b) {
    using W = typename Twice<T>::Type;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> bits_of<T>);
}

struct Add {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
    }
};
struct Subtract {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
    }
};
struct Multiply {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
    }
};
struct MultiplyHigh {
    template <class T>
    T operator()(T a, T b) const {
        return high_part(a, b);
    }
};
struct MultiplyWide {
    template <class T>
    auto operator()(T a, T b) const {
        using W = typename Twice<T>::Type;
        return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
    }
};
struct MultiplyAdd {
    template <class T>
    T operator()(T a, T b, T c) const {
        return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b) + Wrapping<T>(c));
    }
};
struct MultiplyHighAdd {
    template <class T>
    T operator()(T a, T b, T c) const {
        return static_cast<T>(Wrapping<T>(high_part(a, b)) + Wrapping<T>(c));
    }
};
struct MultiplyWideAdd {
    template <class T, class W>
    W operator()(T a, T b, W c) const {
        return static_cast<W>(Wrapping<W>(static_cast<W>(a) * static_cast<W>(b)) + Wrapping<W>(c));
    }
};
struct Minimum {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? a : b;
    }
};
struct Maximum {
    template <class T>
    T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};
struct And {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};
struct Not {
    template <class T>
    T operator()(T a) const {
        return static_cast<T>(~a);
    }
};
struct LogicalNot {
    template <class T>
    T operator()(T a) const {
        return a == 0 ? T{1} : T{0};
    }
};
struct Negate {
    template <class T>
    T operator()(T a) const {
        return static_cast<T>(Wrapping<T>(0) - Wrapping<T>(a));
    }
};
struct Absolute {
    template <class T>
    T operator()(T a) const {
        return a < 0 ? static_cast<T>(Wrapping<T>(0) - Wrapping<T>(a)) : a;
    }
};
// Shift amounts above the width count as the width.
struct ShiftLeft {
    template <class T>
    T operator()(T a, u32 b) const {
        return b >= bits_of<T> ? T{0} : static_cast<T>(Wrapping<T>(a) << b);
    }
};
struct ShiftRight {
    template <class T>
    T operator()(T a, u32 b) const {
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(a >> (b >= bits_of<T> ? bits_of<T> - 1 : b));
        else
            return b >= bits_of<T> ? T{0} : static_cast<T>(a >> b);
    }
};
// By zero, which PTX leaves open, quotient and remainder are all ones, whatever their width and sign: the code that
// ptxas makes says so (`@!P LOP3.LUT R0, RZ, divisor, RZ, 0x33`, and MOV or SEL of -1 in its functions for 16 and 64
// bits), and so do constants that it folds. INT_MIN / -1 wraps.
struct Divide {
    template <class T>
    T operator()(T a, T b) const {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return static_cast<T>(Wrapping<T>(0) - Wrapping<T>(a));
        return static_cast<T>(a / b);
    }
};
struct Remainder {
    template <class T>
    T operator()(T a, T b) const {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return 0;
        return static_cast<T>(a % b);
    }
};
// Quotients of 32-bit integers are exact after a division in binary64: they lie at least 1/b from the next
// integer, far more than a rounding error.
struct Divide32 {
    u32 operator()(u32 a, u32 b) const {
        const double q = static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b);
        return b == 0 ? ~u32{0} : static_cast<u32>(static_cast<s64>(q));
    }
};
struct Remainder32 {
    u32 operator()(u32 a, u32 b) const {
        const double q = static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b);
        return b == 0 ? ~u32{0} : a - b * static_cast<u32>(static_cast<s64>(q));
    }
};
struct PopulationCount {
    template <class T>
    u32 operator()(T a) const {
        return static_cast<u32>(std::popcount(a));
    }
};
struct LeadingZeros {
    template <class T>
    u32 operator()(T a) const {
        return static_cast<u32>(std::countl_zero(a));
    }
};
struct ReverseBits {
    template <class T>
    T operator()(T a) const {
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
struct LookUp3 {  // lop3: Op::imm is the truth table, indexed by the bits of a, b and c
    explicit LookUp3(const Op& op) {
        for (unsigned row = 0; row < 8; row++) rows[row] = (op.imm >> row) & 1 ? ~u32{0} : 0;
    }
    u32 rows[8];
    u32 operator()(u32 a, u32 b, u32 c) const {
        const u32 low = (~b & ((~c & rows[0]) | (c & rows[1]))) | (b & ((~c & rows[2]) | (c & rows[3])));
        const u32 high = (~b & ((~c & rows[4]) | (c & rows[5]))) | (b & ((~c & rows[6]) | (c & rows[7])));
        return (~a & low) | (a & high);
    }
};
struct FunnelLeft {  // Op::imm: clamp
    explicit FunnelLeft(const Op& op) : clamp(op.imm != 0) {}
    bool clamp;
    u32 operator()(u32 low, u32 high, u32 amount) const {
        const u32 n = clamp ? (amount < 32 ? amount : 32) : amount & 31;
        const u64 both = (static_cast<u64>(high) << 32) | low;
        return n == 32 ? low : static_cast<u32>((both << n) >> 32);
    }
};
struct FunnelRight {
    explicit FunnelRight(const Op& op) : clamp(op.imm != 0) {}
    bool clamp;
    u32 operator()(u32 low, u32 high, u32 amount) const {
        const u32 n = clamp ? (amount < 32 ? amount : 32) : amount & 31;
        const u64 both = (static_cast<u64>(high) << 32) | low;
        return n == 32 ? high : static_cast<u32>(both >> n);
    }
};
struct ExtractField {
    template <class T>
    T operator()(T a, u32 position, u32 length) const {
        const u32 pos = position & 0xff, len = length & 0xff;
        if constexpr (std::is_signed_v<T>) {
            if (len == 0) return 0;
            // Bits beyond the register repeat its sign, as does the field's own uppermost bit.
            const u32 shift = pos < bits_of<T> ? pos : bits_of<T> - 1;
            const T field = static_cast<T>(a >> shift);
            if (len >= bits_of<T>) return field;
            const u32 up = bits_of<T> - len;
            return static_cast<T>(static_cast<T>(static_cast<Wrapping<T>>(field) << up) >> up);
        } else {
            if (len == 0 || pos >= bits_of<T>) return 0;
            const T field = static_cast<T>(a >> pos);
            return len >= bits_of<T> ? field : static_cast<T>(field & ((T{1} << len) - 1));
        }
    }
};
struct Multiply24 {
    u32 operator()(u32 a, u32 b) const { return (a & 0xffffff) * (b & 0xffffff); }
    s32 operator()(s32 a, s32 b) const {
        return static_cast<s32>(static_cast<u32>(sign24(a)) * static_cast<u32>(sign24(b)));
    }
    static s32 sign24(s32 a) { return static_cast<s32>(static_cast<u32>(a) << 8) >> 8; }
};
struct Multiply24Add {
    template <class T>
    T operator()(T a, T b, T c) const {
        return static_cast<T>(static_cast<u32>(Multiply24()(a, b)) + static_cast<u32>(c));
    }
};
struct AbsoluteDifferenceAdd {
    template <class T>
    T operator()(T a, T b, T c) const {
        const Wrapping<T> difference =
            a < b ? Wrapping<T>(b) - Wrapping<T>(a) : Wrapping<T>(a) - Wrapping<T>(b);
        return static_cast<T>(difference + Wrapping<T>(c));
    }
};

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
