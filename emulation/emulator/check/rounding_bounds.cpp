// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/rounding_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "emulation/emulator/exec/half.h"

namespace trimtab::emulator::check {

using ptx::NumberKind;

namespace {

// Errors of n additions in either direction come to some sqrt(n) of one's.
constexpr double errors_at_once = 16;

template <class T>
T read(const std::byte* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

}  // namespace

Precision precision_of(NumberKind kind) {
    switch (kind) {
        case NumberKind::f16:
            return {.bits = 11, .tolerance = 4e-3, .least_normal = 0x1p-14};
        case NumberKind::bf16:
            return {.bits = 8, .tolerance = 3e-2, .least_normal = 0x1p-126};
        case NumberKind::f32:
            return {.bits = 24, .tolerance = 1e-4, .least_normal = 0x1p-126};
        case NumberKind::f64:
            return {.bits = 53, .tolerance = 1e-10, .least_normal = 0x1p-1022};
        case NumberKind::moved:
        case NumberKind::other:
            break;
    }
    return {};
}

double number_of(const std::byte* bytes, NumberKind kind) {
    switch (kind) {
        case NumberKind::f16:
            return half_to_real(read<std::uint16_t>(bytes));
        case NumberKind::bf16:
            return bfloat_to_real(read<std::uint16_t>(bytes));
        case NumberKind::f32:
            return read<float>(bytes);
        default:
            return read<double>(bytes);
    }
}

SumBound bound_of(const AtomicSum& sum) {
    const Precision precision = precision_of(sum.kind);
    // No partial sum has more bits than the type: all orders are exact.
    if (sum.magnitude < std::ldexp(1.0, sum.finest_exponent + precision.bits)) return {};
    const auto count = static_cast<double>(sum.count);
    const double of_one = std::ldexp(sum.magnitude, -precision.bits),
                 flushed = 2 * count * precision.least_normal;
    const double most = std::min(2 * count * of_one, sum.magnitude) + flushed;
    return {.usual = std::min(most, errors_at_once * std::sqrt(count) * of_one + flushed), .most = most};
}

}  // namespace trimtab::emulator::check
