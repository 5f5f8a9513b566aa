#include "emulator/exec/half.h"

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
    const int exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
    double magnitude = 0;
    if (exponent == 0)
        magnitude = std::ldexp(fraction, -24);
    else if (exponent == 31)
        magnitude = fraction == 0 ? INFINITY : NAN;
    else
        magnitude = std::ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double bfloat_to_real(std::uint16_t bits) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

std::uint16_t real_to_half(double value, ptx::Rounding rounding) {
    if (std::isnan(value)) return 0x7fff;
    return pack(round_to_format(value, 11, -14, rounding), 11, -14, 15, rounding);
}

std::uint16_t real_to_bfloat(double value, ptx::Rounding rounding) {
    if (std::isnan(value)) return 0x7fff;
    return pack(round_to_format(value, 8, -126, rounding), 8, -126, 127, rounding);
}

}  // namespace trimtab::emulator
