// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What PTX's instructions on integers compute (PTX ISA, "Integer Arithmetic Instructions", "Comparison and Selection
// Instructions"): one function of C++ integers each, and the only place that says so; bits.h has those on bits. The
// interpreter runs these functions over a warp's lanes; the proof, the checker and the static traces ask them for single
// values (semantics/evaluate.h). integer.def says which instruction is which function, and of which types.
//
// T is the instruction's type: unsigned of b8 to b64 as well. A function that takes a Control as its last parameter needs
// what is written in the instruction beside its operands. is_lane_by_lane: no compiler makes vector code of it.
#pragma once

#include "core/ptx/comparison.h"
#include "core/ptx/semantics/numbers.h"

namespace trimtab::ptx::semantics {

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
