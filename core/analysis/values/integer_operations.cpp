// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/integer_operations.h"

namespace trimtab::analysis {
namespace {

using ptx::Comparison;
using ptx::Type;

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
    const ptx::Modifiers& modifiers = instruction.modifiers;
    if (instruction.opcode == ptx::Opcode::cvt && !modifiers.sat && !modifiers.relu)
        return conversion(instruction.type, instruction.source_type);
    const auto known = ptx::semantics::operation_of(instruction);
    const auto op = known ? operator_of(known->opcode, known->form) : std::nullopt;
    if (!op) return std::nullopt;
    if (*op != Operator::setp) return operation_of(*op, instruction.type);
    Type type = instruction.type;
    const auto comparison = plain(modifiers.comparison, type);
    return comparison ? operation_of(*op, type, *comparison) : std::nullopt;
}

}  // namespace trimtab::analysis
