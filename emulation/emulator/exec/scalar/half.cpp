// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on binary16 and bfloat16, single and packed in pairs.
#include "emulation/emulator/exec/half.h"

#include <bit>
#include <cmath>

#include "emulation/emulator/exec/scalar/function.h"

namespace trimtab::emulator {
namespace {

using ptx::Opcode;
using ptx::Type;
using u16 = std::uint16_t;
using u64 = std::uint64_t;

namespace half_flag {  // of Op::imm
constexpr u64 bfloat = 1, ftz = 2, sat = 4, relu = 8, nan = 16, packed = 32, xorsign = 64;
}

enum class HalfOperation : std::uint8_t {
    add,
    subtract,
    multiply,
    fused,
    negate,
    absolute,
    minimum,
    maximum,
    ex2,
    tanh
};

bool is_subnormal(u16 bits, bool bfloat) {
    const u16 exponent = bfloat ? 0x7f80 : 0x7c00;
    return (bits & exponent) == 0 && (bits & 0x7fff) != 0;
}

double load(u64 bits, u64 flags) {
    auto own = static_cast<u16>(bits);
    const bool bfloat = (flags & half_flag::bfloat) != 0;
    if ((flags & half_flag::ftz) != 0 && is_subnormal(own, bfloat)) own &= 0x8000;
    return bfloat ? bfloat_to_real(own) : half_to_real(own);
}

u16 store(double value, u64 flags) {
    const bool bfloat = (flags & half_flag::bfloat) != 0;
    if ((flags & half_flag::sat) != 0) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
    if ((flags & half_flag::relu) != 0 && !std::isnan(value)) value = value > 0 ? value : 0.0;
    u16 bits = bfloat ? real_to_bfloat(value) : real_to_half(value);
    if ((flags & half_flag::ftz) != 0 && is_subnormal(bits, bfloat)) bits &= 0x8000;
    return bits;
}

// a * b is exact in binary64; its sum with c is rounded to odd there, so that the second rounding, to at most
// 11 bits, is the only one that counts.
double fused(double a, double b, double c) {
    const double product = a * b, sum = product + c;
    if (!std::isfinite(sum)) return sum;
    const double shadow = sum - product;
    const double error = (product - (sum - shadow)) + (c - shadow);
    auto bits = std::bit_cast<u64>(sum);
    if (error == 0 || (bits & 1) != 0) return sum;
    // The exact result lies beyond `sum` on the side of the error: an odd neighbour there stands for it.
    const bool away = (error > 0) == (sum > 0);
    return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

double extremum(double a, double b, bool maximum, u64 flags) {
    const bool negative = std::signbit(a) != std::signbit(b);
    if ((flags & half_flag::xorsign) != 0) {
        a = std::fabs(a);
        b = std::fabs(b);
    }
    double r = 0;
    if (std::isnan(a) || std::isnan(b)) {
        if ((flags & half_flag::nan) != 0) return NAN;
        r = std::isnan(a) ? b : a;
    } else if (a == b) {
        r = std::signbit(a) == maximum ? b : a;
    } else {
        r = (a < b) == maximum ? b : a;
    }
    return (flags & half_flag::xorsign) != 0 && !std::isnan(r) ? std::copysign(r, negative ? -1.0 : 1.0) : r;
}

template <HalfOperation operation>
u16 one(u64 x, u64 y, u64 z, u64 flags) {
    if constexpr (operation == HalfOperation::negate) return static_cast<u16>(x ^ 0x8000);
    if constexpr (operation == HalfOperation::absolute) return static_cast<u16>(x & 0x7fff);
    const double a = load(x, flags), b = load(y, flags), c = load(z, flags);
    double r = 0;
    switch (operation) {
        case HalfOperation::add:
            r = fused(a, 1.0, b);
            break;
        case HalfOperation::subtract:
            r = fused(a, 1.0, -b);
            break;
        case HalfOperation::multiply:
            r = a * b;
            break;
        case HalfOperation::fused:
            r = fused(a, b, c);
            break;
        case HalfOperation::minimum:
            r = extremum(a, b, false, flags);
            break;
        case HalfOperation::maximum:
            r = extremum(a, b, true, flags);
            break;
        case HalfOperation::ex2:
            r = std::exp2(a);
            break;
        case HalfOperation::tanh:
            r = std::tanh(a);
            break;
        default:
            break;
    }
    return store(r, flags);
}

template <HalfOperation operation>
u64 operate(const Op& op, u64 a, u64 b, u64 c, u64) {
    if ((op.imm & half_flag::packed) == 0) return one<operation>(a, b, c, op.imm);
    return one<operation>(a & 0xffff, b & 0xffff, c & 0xffff, op.imm) |
           u64{one<operation>(a >> 16, b >> 16, c >> 16, op.imm)} << 16;
}

}  // namespace

ScalarChoice scalar_half(const ptx::Instruction& instruction) {
    const ptx::Modifiers& modifiers = instruction.modifiers;
    const Type type = instruction.type;
    if (instruction.opcode == Opcode::set) return scalar_comparison(instruction);
    const bool bfloat = type == Type::bf16 || type == Type::bf16x2;
    const bool packed = type == Type::f16x2 || type == Type::bf16x2;
    if (modifiers.rounding != ptx::Rounding::none && modifiers.rounding != ptx::Rounding::rn &&
        modifiers.rounding != ptx::Rounding::approx) {
        return {};
    }
    const u64 imm = (bfloat ? half_flag::bfloat : 0) | (modifiers.ftz ? half_flag::ftz : 0) |
                    (modifiers.sat ? half_flag::sat : 0) | (modifiers.relu ? half_flag::relu : 0) |
                    (modifiers.nan_ ? half_flag::nan : 0) | (packed ? half_flag::packed : 0) |
                    (modifiers.xorsign_abs ? half_flag::xorsign : 0);
    switch (instruction.opcode) {
        case Opcode::add:
            return {operate<HalfOperation::add>, imm};
        case Opcode::sub:
            return {operate<HalfOperation::subtract>, imm};
        case Opcode::mul:
            return {operate<HalfOperation::multiply>, imm};
        case Opcode::fma:
            return {operate<HalfOperation::fused>, imm};
        case Opcode::neg:
            return {operate<HalfOperation::negate>, imm};
        case Opcode::abs:
            return {operate<HalfOperation::absolute>, imm};
        case Opcode::min:
            return {operate<HalfOperation::minimum>, imm};
        case Opcode::max:
            return {operate<HalfOperation::maximum>, imm};
        case Opcode::ex2:
            return {operate<HalfOperation::ex2>, imm};
        case Opcode::tanh:
            return {operate<HalfOperation::tanh>, imm};
        default:
            return {};
    }
}

}  // namespace trimtab::emulator
