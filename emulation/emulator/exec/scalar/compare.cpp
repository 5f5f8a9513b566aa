// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// set, and setp of types that do not vectorise.
#include <bit>
#include <cmath>

#include "core/ptx/semantics/evaluate.h"
#include "emulation/emulator/exec/half.h"
#include "emulation/emulator/exec/scalar/function.h"

namespace trimtab::emulator {
namespace {

using ptx::Comparison;
using ptx::Type;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 comparison_ftz = u64{1} << 24;
constexpr unsigned boolean_shift = 32;

bool ordered(Comparison comparison, double a, double b) {
    switch (comparison) {
        case Comparison::eq:
        case Comparison::equ:
            return a == b;
        case Comparison::ne:
        case Comparison::neu:
            return a != b;
        case Comparison::lt:
        case Comparison::ltu:
            return a < b;
        case Comparison::le:
        case Comparison::leu:
            return a <= b;
        case Comparison::gt:
        case Comparison::gtu:
            return a > b;
        case Comparison::ge:
        case Comparison::geu:
            return a >= b;
        case Comparison::num:
            return true;
        default:
            return false;
    }
}

bool compare_reals(Comparison comparison, double a, double b) {
    if (!std::isnan(a) && !std::isnan(b)) return ordered(comparison, a, b);
    switch (comparison) {
        case Comparison::equ:
        case Comparison::neu:
        case Comparison::ltu:
        case Comparison::leu:
        case Comparison::gtu:
        case Comparison::geu:
        case Comparison::nan:
            return true;
        default:
            return false;
    }
}

double real(u64 bits, Type type, bool ftz) {
    switch (type) {
        case Type::f64:
            return std::bit_cast<double>(bits);
        case Type::f32: {
            const auto value = std::bit_cast<float>(static_cast<u32>(bits));
            return ftz && std::fpclassify(value) == FP_SUBNORMAL ? 0.0 : static_cast<double>(value);
        }
        case Type::bf16:
        case Type::bf16x2:
            return bfloat_to_real(static_cast<u16>(bits));
        default: {
            const auto own = static_cast<u16>(bits);
            return ftz && (own & 0x7c00) == 0 ? 0.0 : half_to_real(own);
        }
    }
}

bool holds(const Op& op, u64 a, u64 b) {
    const auto comparison = static_cast<Comparison>(op.imm & 0xff);
    const auto type = static_cast<Type>((op.imm >> 8) & 0xff);
    if (ptx::is_float(type)) {
        const bool ftz = (op.imm & comparison_ftz) != 0;
        return compare_reals(comparison, real(a, type, ftz), real(b, type, ftz));
    }
    const unsigned bits = ptx::integer_bits(type);
    if (!ptx::is_signed(type)) return ptx::holds(comparison, a, b);
    return ptx::holds(comparison, ptx::semantics::sign_extend(a, bits), ptx::semantics::sign_extend(b, bits));
}

u64 to_predicate(const Op& op, u64 a, u64 b, u64, u64) {
    return holds(op, a, b) ? 1 : 0;
}
// setp on pairs: p for the lower halves, q for the upper ones.
u64 low_to_predicate(const Op& op, u64 a, u64 b, u64, u64) {
    return holds(op, a & 0xffff, b & 0xffff) ? 1 : 0;
}
u64 high_to_predicate(const Op& op, u64 a, u64 b, u64, u64) {
    return holds(op, a >> 16, b >> 16) ? 1 : 0;
}

// set; with a predicate c, of the comparison combined with it.
u64 to_value(const Op& op, u64 a, u64 b, u64 c, u64) {
    const auto is = [&op, c](u64 x, u64 y) {
        const bool compared = holds(op, x, y), other = c != 0;
        switch (static_cast<ptx::BooleanOp>(op.imm >> boolean_shift)) {
            case ptx::BooleanOp::and_:
                return compared && other;
            case ptx::BooleanOp::or_:
                return compared || other;
            case ptx::BooleanOp::xor_:
                return compared != other;
            default:
                return compared;
        }
    };
    const auto result = static_cast<Type>((op.imm >> 16) & 0xff);
    if (result == Type::f16x2 || result == Type::bf16x2) {
        const u64 one = result == Type::f16x2 ? 0x3c00 : 0x3f80;
        return (is(a & 0xffff, b & 0xffff) ? one : 0) | (is(a >> 16, b >> 16) ? one << 16 : 0);
    }
    const auto compared = static_cast<Type>((op.imm >> 8) & 0xff);
    if (compared == Type::f16x2 || compared == Type::bf16x2) {  // PTX ISA, set: a mask for each half
        return (is(a & 0xffff, b & 0xffff) ? 0xffffu : 0u) | (is(a >> 16, b >> 16) ? 0xffff0000u : 0u);
    }
    if (!is(a, b)) return 0;
    switch (result) {
        case Type::f32:
            return std::bit_cast<u32>(1.0f);
        case Type::f16:
            return 0x3c00;
        case Type::bf16:
            return 0x3f80;
        default:
            return ~u64{0};
    }
}

}  // namespace

ScalarChoice scalar_comparison(const ptx::Instruction& instruction, bool upper) {
    const bool is_set = instruction.opcode == ptx::Opcode::set;
    const Type compared = is_set ? instruction.source_type : instruction.type;
    const bool packed = compared == Type::f16x2 || compared == Type::bf16x2;
    const bool packed_result = instruction.type == Type::f16x2 || instruction.type == Type::bf16x2;
    if (instruction.modifiers.comparison == Comparison::none || ptx::size_bytes(compared) == 0) return {};
    const bool masks = ptx::size_bytes(instruction.type) == 4 && !ptx::is_float(instruction.type);
    if (is_set && packed && !packed_result && !masks) return {};
    const u64 imm = static_cast<u64>(instruction.modifiers.comparison) | static_cast<u64>(compared) << 8 |
                    static_cast<u64>(instruction.type) << 16 |
                    (instruction.modifiers.ftz ? comparison_ftz : 0);
    if (!is_set && packed) return {upper ? high_to_predicate : low_to_predicate, imm};
    if (!is_set) return {to_predicate, imm};
    return {to_value, imm | static_cast<u64>(instruction.modifiers.boolean_op) << boolean_shift};
}

}  // namespace trimtab::emulator
