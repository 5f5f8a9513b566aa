// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one lane of a floating-point instruction computes (PTX ISA, "Floating Point Instructions").
//
// Results that are not numbers are the NaN that GPUs make: 0x7fffffff in binary32 and 0xfff8000000000000 in
// binary64; a processor's own would depend on the order of its operands.
#pragma once

#include <bit>
#include <cstdint>

#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {

// Tested as integers: compilers hold one NaN to be as good as another, and drop a test that is made on reals.
[[gnu::always_inline]] inline float canonical(float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    return std::bit_cast<float>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits);
}
[[gnu::always_inline]] inline double canonical(double x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    const auto nan = static_cast<std::int64_t>(0xfff8000000000000u);
    return std::bit_cast<double>((bits & 0x7fffffffffffffff) > 0x7ff0000000000000 ? nan : bits);
}

// .ftz: subnormal numbers become zeros of the same sign.
template <bool ftz>
[[gnu::always_inline]] inline float flush(float x) {
    if constexpr (ftz) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
        return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : x;
    } else {
        return x;
    }
}
template <bool ftz>
[[gnu::always_inline]] inline double flush(double x) {
    return x;
}
// .sat: to [0, 1], NaN to +0.
template <bool sat, class T>
[[gnu::always_inline]] inline T saturate(T x) {
    if constexpr (sat) {
        const T low = x > T{0} ? x : T{0};
        return low < T{1} ? low : T{1};
    } else {
        return x;
    }
}
template <bool ftz, bool sat, class T>
[[gnu::always_inline]] inline T finish(T x) {
    if constexpr (sat)
        return saturate<sat>(flush<ftz>(x));
    else
        return canonical(flush<ftz>(x));
}

template <bool ftz, bool sat>
struct AddReal {
    template <class T>
    T operator()(T a, T b) const {
        return finish<ftz, sat>(flush<ftz>(a) + flush<ftz>(b));
    }
};
template <bool ftz, bool sat>
struct SubtractReal {
    template <class T>
    T operator()(T a, T b) const {
        return finish<ftz, sat>(flush<ftz>(a) - flush<ftz>(b));
    }
};
template <bool ftz, bool sat>
struct MultiplyReal {
    template <class T>
    T operator()(T a, T b) const {
        return finish<ftz, sat>(flush<ftz>(a) * flush<ftz>(b));
    }
};
template <bool ftz, bool sat>
struct FusedMultiplyAdd {
    float operator()(float a, float b, float c) const {
        return finish<ftz, sat>(__builtin_fmaf(flush<ftz>(a), flush<ftz>(b), flush<ftz>(c)));
    }
    double operator()(double a, double b, double c) const { return finish<ftz, sat>(__builtin_fma(a, b, c)); }
};
template <bool ftz, bool sat>
struct DivideReal {
    template <class T>
    T operator()(T a, T b) const {
        return finish<ftz, sat>(flush<ftz>(a) / flush<ftz>(b));
    }
};
// div.approx.f32 is a * (1/b): for 2^126 < |b| < 2^128 it delivers 0, or NaN if a is infinite.
template <bool ftz, bool sat>
struct DivideApproximately {
    float operator()(float a, float b) const {
        const float x = flush<ftz>(a), y = flush<ftz>(b);
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(y) & 0x7fffffffu;
        const bool huge = magnitude > 0x7e800000u && magnitude < 0x7f800000u;
        const float quotient = x / y;
        const float zero = x * (y < 0 ? -0.0f : 0.0f);  // NaN where a is infinite
        return finish<ftz, sat>(huge ? zero : quotient);
    }
};
template <bool ftz>
struct ReciprocalReal {
    template <class T>
    T operator()(T a) const {
        return finish<ftz, false>(T{1} / flush<ftz>(a));
    }
};
// rcp.approx.ftz.f64: the upper 32 bits of the result, the lower ones zero.
struct ReciprocalApproximately64 {
    double operator()(double a) const {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(a);
        const bool tiny = (bits & 0x7ff0000000000000u) == 0;
        const double x = tiny ? std::bit_cast<double>(bits & 0x8000000000000000u) : a;
        const double r = canonical(1.0 / x);
        const std::uint64_t out = std::bit_cast<std::uint64_t>(r);
        if ((out & 0x7ff0000000000000u) == 0) return std::bit_cast<double>(out & 0x8000000000000000u);
        return std::bit_cast<double>(out & 0xffffffff00000000u);
    }
};
template <bool ftz>
struct SquareRoot {
    float operator()(float a) const { return finish<ftz, false>(__builtin_sqrtf(flush<ftz>(a))); }
    double operator()(double a) const { return finish<false, false>(__builtin_sqrt(a)); }
};
template <bool ftz>
struct ReciprocalSquareRoot {
    float operator()(float a) const {
        const double x = static_cast<double>(flush<ftz>(a));
        return finish<ftz, false>(static_cast<float>(1.0 / __builtin_sqrt(x)));
    }
    double operator()(double a) const { return canonical(1.0 / __builtin_sqrt(a)); }
};
// rsqrt.approx.ftz.f64, like rcp's.
struct ReciprocalSquareRootApproximately64 {
    double operator()(double a) const {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(a);
        const bool tiny = (bits & 0x7ff0000000000000u) == 0;
        const double x = tiny ? std::bit_cast<double>(bits & 0x8000000000000000u) : a;
        const double r = canonical(1.0 / __builtin_sqrt(x));
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(r) & 0xffffffff00000000u);
    }
};
template <bool ftz>
struct NegateReal {
    template <class T>
    T operator()(T a) const {
        return -flush<ftz>(a);
    }
};
template <bool ftz>
struct AbsoluteReal {
    float operator()(float a) const { return __builtin_fabsf(flush<ftz>(a)); }
    double operator()(double a) const { return __builtin_fabs(a); }
};
// min and max: a number beats a NaN unless `nan` says that a NaN wins; +0 is above -0.
template <bool ftz, bool nan>
struct MinimumReal {
    template <class T>
    T operator()(T x, T y) const {
        const T a = flush<ftz>(x), b = flush<ftz>(y);
        const bool below = a < b || (a == b && __builtin_signbit(a));
        T r = below ? a : b;
        r = b != b ? a : r;
        if (nan) r = a != a || b != b ? a + b : r;
        return canonical(r);
    }
};
template <bool ftz, bool nan>
struct MaximumReal {
    template <class T>
    T operator()(T x, T y) const {
        const T a = flush<ftz>(x), b = flush<ftz>(y);
        const bool above = a > b || (a == b && !__builtin_signbit(a));
        T r = above ? a : b;
        r = b != b ? a : r;
        if (nan) r = a != a || b != b ? a + b : r;
        return canonical(r);
    }
};
// copysign.f32 d, a, b: the sign of a, the magnitude of b.
struct CopySign {
    float operator()(float a, float b) const { return __builtin_copysignf(b, a); }
    double operator()(double a, double b) const { return __builtin_copysign(b, a); }
};

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
