// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point instructions that are computed lane by lane: tests, selections, signed extrema.
#include <bit>
#include <cmath>

#include "emulation/emulator/exec/scalar/function.h"

namespace trimtab::emulator {
namespace {

using ptx::Opcode;
using ptx::Type;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace real_flag {  // of Op::imm
constexpr u64 ftz = 0x100, sat = 0x200, nan = 0x400, xorsign = 0x800;
}

template <class T>
struct Bits;
template <>
struct Bits<float> {
    using Type = u32;
    static constexpr u32 nan = 0x7fffffffu;
};
template <>
struct Bits<double> {
    using Type = u64;
    static constexpr u64 nan = 0xfff8000000000000u;
};

template <class T>
T value_of(u64 bits, u64 flags = 0) {
    const T value = std::bit_cast<T>(static_cast<typename Bits<T>::Type>(bits));
    if (sizeof(T) == 4 && (flags & real_flag::ftz) != 0 && std::fpclassify(value) == FP_SUBNORMAL)
        return std::copysign(T{0}, value);
    return value;
}
template <class T>
u64 bits_of(T value, u64 flags) {
    if ((flags & real_flag::sat) != 0) value = value > 0 ? (value < 1 ? value : T{1}) : T{0};
    if (std::isnan(value)) return Bits<T>::nan;
    if (sizeof(T) == 4 && (flags & real_flag::ftz) != 0 && std::fpclassify(value) == FP_SUBNORMAL)
        value = std::copysign(T{0}, value);
    return std::bit_cast<typename Bits<T>::Type>(value);
}

template <class T, bool maximum>
u64 extremum(const Op& op, u64 x, u64 y, u64, u64) {
    T a = value_of<T>(x, op.imm), b = value_of<T>(y, op.imm);
    const bool negative = std::signbit(a) != std::signbit(b);
    if ((op.imm & real_flag::xorsign) != 0) {
        a = std::fabs(a);
        b = std::fabs(b);
    }
    T r{};
    if (std::isnan(a) || std::isnan(b)) {
        if ((op.imm & real_flag::nan) != 0 || (std::isnan(a) && std::isnan(b))) return Bits<T>::nan;
        r = std::isnan(a) ? b : a;
    } else if (a == b) {
        r = std::signbit(a) == maximum ? b : a;
    } else {
        r = (a < b) == maximum ? b : a;
    }
    if ((op.imm & real_flag::xorsign) != 0) r = std::copysign(r, negative ? T{-1} : T{1});
    return bits_of<T>(r, op.imm);
}

// testp: imm: 0 finite, 1 infinite, 2 number, 3 notanumber, 4 normal, 5 subnormal.
template <class T>
u64 test_property(const Op& op, u64 a, u64, u64, u64) {
    const T value = value_of<T>(a);
    const int kind = std::fpclassify(value);
    switch (op.imm) {
        case 0:
            return std::isfinite(value);
        case 1:
            return kind == FP_INFINITE;
        case 2:
            return kind != FP_NAN;
        case 3:
            return kind == FP_NAN;
        case 4:
            return kind == FP_NORMAL;
        default:
            return kind == FP_SUBNORMAL;
    }
}

// slct by an f32: c >= 0 ? a : b; a NaN selects b, and -0 counts as 0.
u64 select_by_real(const Op& op, u64 a, u64 b, u64 c, u64) {
    return value_of<float>(c, op.imm) >= 0 ? a : b;
}
u64 select_by_integer(const Op&, u64 a, u64 b, u64 c, u64) {
    return static_cast<std::int32_t>(c) >= 0 ? a : b;
}

u64 property_of(const ptx::Instruction& instruction) {
    constexpr const char* names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    for (const std::string& suffix : instruction.suffixes) {
        for (u64 i = 0; i < 6; i++) {
            if (suffix == names[i]) return i;
        }
    }
    return 0;
}

}  // namespace

ScalarChoice scalar_real(const ptx::Instruction& instruction) {
    const ptx::Modifiers& modifiers = instruction.modifiers;
    const Type type = instruction.type;
    if (instruction.opcode == Opcode::set) return scalar_comparison(instruction);
    u64 imm = 0;
    if (modifiers.ftz) imm |= real_flag::ftz;
    if (modifiers.sat) imm |= real_flag::sat;
    if (modifiers.nan_) imm |= real_flag::nan;
    if (modifiers.xorsign_abs) imm |= real_flag::xorsign;
    if (instruction.opcode == Opcode::slct) {
        if (instruction.source_type == Type::f32) return {select_by_real, imm};
        return instruction.source_type == Type::s32 ? ScalarChoice{select_by_integer, 0} : ScalarChoice{};
    }
    if (type != Type::f32 && type != Type::f64) return {};
    switch (instruction.opcode) {
        case Opcode::min:
            return {type == Type::f64 ? extremum<double, false> : extremum<float, false>, imm};
        case Opcode::max:
            return {type == Type::f64 ? extremum<double, true> : extremum<float, true>, imm};
        case Opcode::testp:
            return {type == Type::f64 ? test_property<double> : test_property<float>,
                    property_of(instruction)};
        default:
            return {};
    }
}

}  // namespace trimtab::emulator
