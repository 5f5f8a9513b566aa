// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The approximate functions of special-function units (PTX ISA: ex2, lg2, sin, cos, tanh .approx). The ISA
// bounds their errors and fixes no bits; these stay well inside the bounds, vectorise, and give the same bits
// on every machine.
#pragma once

#include <bit>
#include <cstdint>

#include "emulation/emulator/exec/vector/real_ops.h"

namespace trimtab::emulator::TRIMTAB_VECTOR {

// Adding it to a double of magnitude below 2^51 leaves the nearest integer in the lower bits.
inline constexpr double integer_magic = 6755399441055744.0;  // 1.5 * 2^52

// 2^x for x in [-1000, 1000]: Taylor's series of e^(f ln 2) for |f| <= 1/2, relative error below 1e-12.
[[gnu::always_inline]] inline double power_of_two(double x) {
    const double shifted = x + integer_magic;
    const double f = (x - (shifted - integer_magic)) * 0.693147180559945309;
    double p = 1.0 / 3628800;
    p = p * f + 1.0 / 362880;
    p = p * f + 1.0 / 40320;
    p = p * f + 1.0 / 5040;
    p = p * f + 1.0 / 720;
    p = p * f + 1.0 / 120;
    p = p * f + 1.0 / 24;
    p = p * f + 1.0 / 6;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    const std::uint64_t exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + exponent);
}

template <bool ftz>
struct ExponentialBase2 {
    float operator()(float a) const {
        const float x = flush<ftz>(a);
        // Beyond these the result is 0 or infinite in any case.
        const float low = x > -160.0f ? x : -160.0f;
        const float clipped = low < 130.0f ? low : 130.0f;
        const float r = flush<ftz>(static_cast<float>(power_of_two(static_cast<double>(clipped))));
        return x != x ? canonical(x) : r;
    }
};

template <bool ftz>
struct LogarithmBase2 {
    float operator()(float a) const {
        const float x = flush<ftz>(a);
        // x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)).
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
        const std::uint64_t above = (bits & 0x000fffffffffffffu) > 0x6a09e667f3bccu ? 1 : 0;
        const double m = std::bit_cast<double>((bits & 0x000fffffffffffffu) | ((1023 - above) << 52));
        const double e = std::bit_cast<double>(((bits >> 52) + above) | 0x4330000000000000u) -
                         (4503599627370496.0 + 1023.0);
        const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
        double p = 1.0 / 15;
        p = p * s2 + 1.0 / 13;
        p = p * s2 + 1.0 / 11;
        p = p * s2 + 1.0 / 9;
        p = p * s2 + 1.0 / 7;
        p = p * s2 + 1.0 / 5;
        p = p * s2 + 1.0 / 3;
        p = p * s2 + 1.0;
        float r = static_cast<float>(e + p * s * 2.88539008177792681);  // 2 / ln 2
        r = x == 0.0f ? -__builtin_inff() : r;
        r = x == __builtin_inff() ? x : r;
        r = x < 0.0f || x != x ? std::bit_cast<float>(0x7fffffffu) : r;
        return r;
    }
};

struct SineAndCosine {
    double sine, cosine;
    std::uint32_t quadrant;
};
// Reduced to [-pi/4, pi/4] in binary64. Beyond 2^30 the ISA promises nothing; the result stays in [-1, 1].
[[gnu::always_inline]] inline SineAndCosine sine_and_cosine(float a) {
    const double magnitude = __builtin_fabs(static_cast<double>(a));
    const double x = magnitude < 1073741824.0 ? static_cast<double>(a) : 0.0;
    const double shifted = x * 0.636619772367581343 + integer_magic;
    const double n = shifted - integer_magic;
    // pi/2 in two parts, the first of 33 bits, so that n times it is exact.
    const double r = (x - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
    const double r2 = r * r;
    double s = 1.0 / 362880;
    s = s * r2 - 1.0 / 5040;
    s = s * r2 + 1.0 / 120;
    s = s * r2 - 1.0 / 6;
    s = s * r2 + 1.0;
    double c = -1.0 / 3628800;
    c = c * r2 + 1.0 / 40320;
    c = c * r2 - 1.0 / 720;
    c = c * r2 + 1.0 / 24;
    c = c * r2 - 0.5;
    c = c * r2 + 1.0;
    return {s * r, c, static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(shifted))};
}

template <bool ftz>
struct Sine {
    float operator()(float a) const {
        const float x = flush<ftz>(a);
        const SineAndCosine v = sine_and_cosine(x);
        const double magnitude = v.quadrant & 1 ? v.cosine : v.sine;
        const float r = static_cast<float>(v.quadrant & 2 ? -magnitude : magnitude);
        const float zero_kept = x == 0.0f ? x : flush<ftz>(r);
        return x - x != 0.0f ? std::bit_cast<float>(0x7fffffffu) : zero_kept;  // infinite or NaN
    }
};
template <bool ftz>
struct Cosine {
    float operator()(float a) const {
        const float x = flush<ftz>(a);
        const SineAndCosine v = sine_and_cosine(x);
        const double magnitude = v.quadrant & 1 ? v.sine : v.cosine;
        const float r = static_cast<float>((v.quadrant + 1) & 2 ? -magnitude : magnitude);
        return x - x != 0.0f ? std::bit_cast<float>(0x7fffffffu) : flush<ftz>(r);
    }
};

template <bool ftz>
struct HyperbolicTangent {
    float operator()(float a) const {
        const float x = flush<ftz>(a);
        const double d = static_cast<double>(x);
        const double magnitude = __builtin_fabs(d);
        const double clipped = magnitude < 20.0 ? d : (d < 0 ? -20.0 : 20.0);
        const double far = 1.0 - 2.0 / (power_of_two(clipped * 2.88539008177792681) + 1.0);
        const double near = d - d * d * d * (1.0 / 3);
        const float r = static_cast<float>(magnitude < 0.01 ? near : far);
        return x != x ? std::bit_cast<float>(0x7fffffffu) : r;
    }
};

}  // namespace trimtab::emulator::TRIMTAB_VECTOR
