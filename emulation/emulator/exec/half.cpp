// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/half.h"

#include <bit>
#include <cmath>

namespace trimtab::emulator {
namespace {

std::uint16_t pack(double rounded, int significand, int min_exponent, int max_exponent,
                   ptx::Rounding rounding) {
    const int fraction_bits = significand - 1;
    const int bias = 1 - min_exponent;
    const std::uint16_t sign = std::signbit(rounded) ? 0x8000 : 0;
    const auto infinity = static_cast<std::uint16_t>((max_exponent + 1 + bias) << fraction_bits);
    const double magnitude = std::fabs(rounded);
    if (magnitude == 0) return sign;
    if (std::isinf(magnitude)) return sign | infinity;
    const int exponent = std::ilogb(magnitude);
    if (exponent > max_exponent) {
        // Directed away from infinity: the largest finite number.
        const bool towards_zero = rounding == ptx::Rounding::rz ||
                                  (rounding == ptx::Rounding::rm && sign == 0) ||
                                  (rounding == ptx::Rounding::rp && sign != 0);
        return sign | static_cast<std::uint16_t>(towards_zero ? infinity - 1 : infinity);
    }
    if (exponent < min_exponent) {
        const double units = std::ldexp(magnitude, fraction_bits - min_exponent);
        return sign | static_cast<std::uint16_t>(units);
    }
    const double fraction = std::ldexp(magnitude, fraction_bits - exponent);
    const auto bits = static_cast<std::uint32_t>(fraction) - (1u << fraction_bits);
    return sign |
           static_cast<std::uint16_t>((static_cast<std::uint32_t>(exponent + bias) << fraction_bits) | bits);
}

}  // namespace

double round_to_format(double value, int significand, int min_exponent, ptx::Rounding rounding) {
    if (value == 0 || !std::isfinite(value)) return value;
    const int exponent = std::max(std::ilogb(value), min_exponent);
    const double unit = std::ldexp(1.0, exponent - (significand - 1));
    const double scaled = value / unit;  // exact: a power of two
    switch (rounding) {
        case ptx::Rounding::rz:
            return std::trunc(scaled) * unit;
        case ptx::Rounding::rm:
            return std::floor(scaled) * unit;
        case ptx::Rounding::rp:
            return std::ceil(scaled) * unit;
        case ptx::Rounding::rna:
            return std::round(scaled) * unit;
        default:
            return std::nearbyint(scaled) * unit;
    }
}

double half_to_real(std::uint16_t bits) {
    const std::uint64_t sign = std::uint64_t{bits & 0x8000u} << 48;
    const std::uint64_t exponent = (bits >> 10) & 0x1fu, fraction = bits & 0x3ffu;
    if (exponent == 31)
        return std::bit_cast<double>(sign | 0x7ff0000000000000u | (fraction == 0 ? 0 : 0x0008000000000000u));
    if (exponent == 0) {
        const double magnitude = static_cast<double>(fraction) * 0x1p-24;
        return std::bit_cast<double>(sign | std::bit_cast<std::uint64_t>(magnitude));
    }
    return std::bit_cast<double>(sign | (exponent + 1008) << 52 | fraction << 42);
}

double fp8_to_real(std::uint8_t bits, bool e5m2) {
    const int fraction_bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
    const int ones = (1 << fraction_bits) - 1, fraction = bits & ones,
              exponent = (bits & 0x7f) >> fraction_bits;
    const double sign = (bits & 0x80) != 0 ? -1.0 : 1.0;
    if (e5m2 && exponent == 31) return fraction == 0 ? sign * HUGE_VAL : NAN;
    if (!e5m2 && (bits & 0x7f) == 0x7f) return NAN;
    const int significand = exponent == 0 ? fraction : ones + 1 + fraction;
    return sign * std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - fraction_bits);
}

double bfloat_to_real(std::uint16_t bits) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

namespace {

// To nearest by adding and taking away a number whose last place is the unit wanted.
std::uint16_t nearest(double value, int significand, int min_exponent, int max_exponent) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint16_t sign = static_cast<std::uint16_t>(bits >> 48) & 0x8000u;
    const auto magnitude = std::bit_cast<double>(bits & 0x7fffffffffffffffu);
    const int fraction_bits = significand - 1, bias = 1 - min_exponent;
    const auto infinity = static_cast<std::uint16_t>((max_exponent + 1 + bias) << fraction_bits);
    int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
    if (exponent > max_exponent) return sign | infinity;
    if (exponent < min_exponent) exponent = min_exponent;
    const auto power = [](int e) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
    };
    const double shifter = 1.5 * power(exponent - fraction_bits + 52);
    const double rounded = (magnitude + shifter) - shifter;
    // In units of the last place; rounding up to the next power of two carries into the exponent by itself.
    const auto units = static_cast<std::uint32_t>(rounded * power(fraction_bits - exponent));
    return sign | static_cast<std::uint16_t>(
                      (static_cast<std::uint32_t>(exponent - min_exponent) << fraction_bits) + units);
}

}  // namespace

std::uint16_t real_to_half(double value, ptx::Rounding rounding) {
    if (std::isnan(value)) return 0x7fff;
    if (rounding == ptx::Rounding::rn || rounding == ptx::Rounding::none) return nearest(value, 11, -14, 15);
    return pack(round_to_format(value, 11, -14, rounding), 11, -14, 15, rounding);
}

std::uint16_t real_to_bfloat(double value, ptx::Rounding rounding) {
    if (std::isnan(value)) return 0x7fff;
    if (rounding == ptx::Rounding::rn || rounding == ptx::Rounding::none) return nearest(value, 8, -126, 127);
    return pack(round_to_format(value, 8, -126, rounding), 8, -126, 127, rounding);
}

}  // namespace trimtab::emulator
