// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/values/integer_operations.h"

namespace trimtab::analysis {
namespace {

using ptx::Comparison;
using ptx::MultiplyPart;
using ptx::Opcode;
using ptx::Type;

std::optional<Operator> multiplication(MultiplyPart part, Operator lo, Operator hi, Operator wide) {
    switch (part) {
        case MultiplyPart::lo:
            return lo;
        case MultiplyPart::hi:
            return hi;
        case MultiplyPart::wide:
            return wide;
        case MultiplyPart::none:
            break;
    }
    return std::nullopt;
}

std::optional<Operator> operator_of(const ptx::Instruction& instruction) {
    const MultiplyPart part = instruction.modifiers.multiply_part;
    switch (instruction.opcode) {
        case Opcode::add:
            return Operator::add;
        case Opcode::sub:
            return Operator::sub;
        case Opcode::mul:
            return multiplication(part, Operator::mul_lo, Operator::mul_hi, Operator::mul_wide);
        case Opcode::mad:
            return multiplication(part, Operator::mad_lo, Operator::mad_hi, Operator::mad_wide);
        case Opcode::mul24:
            if (part != MultiplyPart::lo) return std::nullopt;
            return Operator::mul24_lo;
        case Opcode::shl:
            return Operator::shl;
        case Opcode::shr:
            return Operator::shr;
        case Opcode::and_:
            return Operator::and_;
        case Opcode::or_:
            return Operator::or_;
        case Opcode::xor_:
            return Operator::xor_;
        case Opcode::not_:
            return Operator::not_;
        case Opcode::neg:
            return Operator::neg;
        case Opcode::abs:
            return Operator::abs;
        case Opcode::min:
            return Operator::min;
        case Opcode::max:
            return Operator::max;
        case Opcode::div:
            return Operator::div;
        case Opcode::rem:
            return Operator::rem;
        case Opcode::cvt:
            return Operator::cvt;
        case Opcode::setp:
            return Operator::setp;
        case Opcode::selp:
            return Operator::selp;
        default:
            return std::nullopt;
    }
}

// lo, ls, hi and hs are the unsigned spellings.
std::optional<Comparison> plain(Comparison comparison, Type& type) {
    const auto unsigned_of = [&type](Comparison same) {
        if (const auto other = integer_type(false, width_bits(type))) type = *other;
        return same;
    };
    switch (comparison) {
        case Comparison::eq:
        case Comparison::ne:
        case Comparison::lt:
        case Comparison::le:
        case Comparison::gt:
        case Comparison::ge:
            return comparison;
        case Comparison::lo:
            return unsigned_of(Comparison::lt);
        case Comparison::ls:
            return unsigned_of(Comparison::le);
        case Comparison::hi:
            return unsigned_of(Comparison::gt);
        case Comparison::hs:
            return unsigned_of(Comparison::ge);
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<Operation> integer_operation(const ptx::Instruction& instruction) {
    const auto op = operator_of(instruction);
    const ptx::Modifiers& modifiers = instruction.modifiers;
    if (!op || width_bits(instruction.type) == 0 || modifiers.sat || modifiers.carry_out || modifiers.relu)
        return std::nullopt;
    if (*op == Operator::cvt) return conversion(instruction.type, instruction.source_type);
    if (*op != Operator::setp) return operation_of(*op, instruction.type);
    Type type = instruction.type;
    const auto comparison = plain(modifiers.comparison, type);
    return comparison ? operation_of(*op, type, *comparison) : std::nullopt;
}

}  // namespace trimtab::analysis
