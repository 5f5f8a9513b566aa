// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What PTX's instructions on bits compute (PTX ISA, "Logic and Shift Instructions" and those of "Integer Arithmetic
// Instructions" that count, find, extract and insert bits), as integer.h does it for numbers.
#pragma once

#include "core/ptx/semantics/numbers.h"

namespace trimtab::ptx::semantics {

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
// Modes of prmt, as Control::bits.
enum class PermuteMode : u8 { index, f4e, b4e, rc8, ecl, ecr, rc16 };
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

}  // namespace trimtab::ptx::semantics
