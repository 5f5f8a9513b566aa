// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt in every pair of types (PTX ISA, "cvt"), by way of 128-bit integers and binary64, which hold every
// source exactly.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

#include "core/ptx/semantics/evaluate.h"
#include "emulation/emulator/exec/half.h"
#include "emulation/emulator/exec/scalar/function.h"

namespace trimtab::emulator {
namespace {

using ptx::Rounding;
using ptx::Type;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Wide = __int128;

struct Conversion {  // Op::imm taken apart
    Type to, from;
    Rounding rounding;
    bool sat, ftz, relu, finite;
};
namespace conversion_flag {
constexpr u64 sat = u64{1} << 24, ftz = u64{1} << 25, relu = u64{1} << 26, finite = u64{1} << 27;
}

Conversion conversion_of(const Op& op) {
    return {static_cast<Type>(op.imm & 0xff),
            static_cast<Type>((op.imm >> 8) & 0xff),
            static_cast<Rounding>((op.imm >> 16) & 0xff),
            (op.imm & conversion_flag::sat) != 0,
            (op.imm & conversion_flag::ftz) != 0,
            (op.imm & conversion_flag::relu) != 0,
            (op.imm & conversion_flag::finite) != 0};
}

bool is_integer(Type type) {
    return !ptx::is_float(type);
}

Wide integer_value(u64 bits, Type type) {
    const unsigned shift = 64 - 8 * ptx::size_bytes(type);
    if (ptx::is_signed(type)) return static_cast<std::int64_t>(bits << shift) >> shift;
    return (bits << shift) >> shift;
}

double real_value(u64 bits, const Conversion& how) {
    switch (how.from) {
        case Type::f64:
            return std::bit_cast<double>(bits);
        case Type::f32: {
            const auto value = std::bit_cast<float>(static_cast<u32>(bits));
            if (how.ftz && std::fpclassify(value) == FP_SUBNORMAL) return std::copysign(0.0, value);
            return value;
        }
        case Type::bf16:
            return bfloat_to_real(static_cast<u16>(bits));
        default:
            return half_to_real(static_cast<u16>(bits));
    }
}

// To an integral value, where the rounding says so.
double to_integral(double value, Rounding rounding) {
    switch (rounding) {
        case Rounding::rni:
            return std::nearbyint(value);
        case Rounding::rzi:
            return std::trunc(value);
        case Rounding::rmi:
            return std::floor(value);
        case Rounding::rpi:
            return std::ceil(value);
        default:
            return value;
    }
}

Wide lowest_of(Type type) {
    return ptx::is_signed(type) ? -(Wide{1} << (8 * ptx::size_bytes(type) - 1)) : Wide{0};
}
Wide highest_of(Type type) {
    const unsigned bits = 8 * ptx::size_bytes(type);
    return (Wide{1} << (ptx::is_signed(type) ? bits - 1 : bits)) - 1;
}

u64 real_to_integer(double value, const Conversion& how) {
    if (std::isnan(value)) {
        // PTX ISA: 0, or the sign bit's value where either type has 64 bits.
        const bool wide = how.from == Type::f64 || ptx::size_bytes(how.to) == 8;
        return wide ? u64{1} << (8 * ptx::size_bytes(how.to) - 1) : 0;
    }
    const double integral = to_integral(value, how.rounding);
    if (integral <= static_cast<double>(lowest_of(how.to))) return static_cast<u64>(lowest_of(how.to));
    if (integral >= static_cast<double>(highest_of(how.to))) return static_cast<u64>(highest_of(how.to));
    return static_cast<u64>(static_cast<Wide>(integral));
}

template <class To>
To narrowed(long double value, Rounding rounding) {
    if (rounding == Rounding::rn || rounding == Rounding::none) return static_cast<To>(value);
    const int before = std::fegetround();
    int mode = FE_TONEAREST;
    if (rounding == Rounding::rz) mode = FE_TOWARDZERO;
    if (rounding == Rounding::rm) mode = FE_DOWNWARD;
    if (rounding == Rounding::rp) mode = FE_UPWARD;
    std::fesetround(mode);
    volatile long double from = value;
    volatile To to = static_cast<To>(from);
    std::fesetround(before);
    return to;
}

u64 to_real(long double value, const Conversion& how) {
    if (how.sat) value = value > 0 ? std::min(value, 1.0L) : 0.0L;
    if (how.relu && !std::isnan(value)) value = value > 0 ? value : 0.0L;
    // .satfinite: the greatest finite magnitude stands for what is beyond it.
    if (how.finite && !std::isnan(value)) {
        const bool half = how.to == Type::f16 || how.to == Type::f16x2;
        const long double greatest = half ? 65504.0L : how.to == Type::tf32 ? 0x1.ffcp127L : 0x1.fep127L;
        value = std::clamp(value, -greatest, greatest);
    }
    switch (how.to) {
        case Type::f64:
            if (std::isnan(value)) return 0xfff8000000000000u;
            return std::bit_cast<u64>(narrowed<double>(value, how.rounding));
        case Type::f32: {
            if (std::isnan(value)) return 0x7fffffffu;
            const auto result = narrowed<float>(value, how.rounding);
            if (how.ftz && std::fpclassify(result) == FP_SUBNORMAL)
                return std::bit_cast<u32>(std::copysign(0.0f, result));
            return std::bit_cast<u32>(result);
        }
        case Type::tf32: {
            if (std::isnan(value)) return 0x7fffffffu;
            const double rounded = round_to_format(static_cast<double>(value), 11, -126, how.rounding);
            return std::bit_cast<u32>(static_cast<float>(rounded));
        }
        case Type::bf16:
        case Type::bf16x2:
            return real_to_bfloat(static_cast<double>(value), how.rounding);
        default:
            return real_to_half(static_cast<double>(value), how.rounding);
    }
}

u64 extended(u64 bits, Type type) {
    return static_cast<u64>(integer_value(bits, type));
}

u64 convert(const Op& op, u64 a, u64, u64, u64) {
    const Conversion how = conversion_of(op);
    if (is_integer(how.from)) {
        if (!is_integer(how.to)) return to_real(static_cast<long double>(integer_value(a, how.from)), how);
        return extended(ptx::semantics::convert(a, how.from, how.to, how.sat), how.to);
    }
    const double value = real_value(a, how);
    if (is_integer(how.to)) return extended(real_to_integer(value, how), how.to);
    return to_real(to_integral(value, how.rounding), how);
}

// cvt.rn.f16x2.f32 d, a, b: a above, b below.
u64 convert_pair(const Op& op, u64 a, u64 b, u64, u64) {
    const Conversion how = conversion_of(op);
    return to_real(real_value(a, how), how) << 16 | to_real(real_value(b, how), how);
}

bool is_scalar(Type type) {
    switch (type) {
        case Type::f16:
        case Type::bf16:
        case Type::f32:
        case Type::f64:
            return true;
        default:
            return is_integer(type) && ptx::size_bytes(type) != 0 && ptx::size_bytes(type) <= 8;
    }
}

}  // namespace

ScalarChoice scalar_conversion(const ptx::Instruction& instruction) {
    const Type to = instruction.type, from = instruction.source_type;
    const ptx::Modifiers& modifiers = instruction.modifiers;
    u64 imm = static_cast<u64>(to) | static_cast<u64>(from) << 8 | static_cast<u64>(modifiers.rounding) << 16;
    if (modifiers.sat) imm |= conversion_flag::sat;
    if (modifiers.ftz) imm |= conversion_flag::ftz;
    if (modifiers.relu) imm |= conversion_flag::relu;
    if (const ScalarChoice fp8 = scalar_fp8(instruction); fp8.function != nullptr) return fp8;
    for (const std::string& suffix : instruction.suffixes) {
        if (suffix == "satfinite") imm |= conversion_flag::finite;
        if (suffix == "scaled" || suffix == "rs") return {};
    }
    const bool pair = to == Type::f16x2 || to == Type::bf16x2;
    if (pair)
        return from == Type::f32 && instruction.sources().size() == 2 ? ScalarChoice{convert_pair, imm}
                                                                      : ScalarChoice{};
    if (instruction.sources().size() != 1) return {};
    if (to == Type::tf32) return from == Type::f32 ? ScalarChoice{convert, imm} : ScalarChoice{};
    return is_scalar(to) && is_scalar(from) ? ScalarChoice{convert, imm} : ScalarChoice{};
}

}  // namespace trimtab::emulator
