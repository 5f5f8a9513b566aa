// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What instructions of loops are, to those who look for iterations that need not be run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/ptx/instruction_registers.h"
#include "core/ptx/opcodes.h"

namespace trimtab::schedule {

[[nodiscard]] inline bool is_counting_type(ptx::Type type) {
    return ptx::integer_bits(type) >= 32;
}

// Integers in the order of their type.
[[nodiscard]] inline bool is_compared(ptx::Comparison comparison, ptx::Type type) {
    switch (comparison) {
        case ptx::Comparison::eq:
        case ptx::Comparison::ne:
            return true;
        case ptx::Comparison::lt:
        case ptx::Comparison::le:
        case ptx::Comparison::gt:
        case ptx::Comparison::ge:
            return type != ptx::Type::b32 && type != ptx::Type::b64;
        case ptx::Comparison::lo:
        case ptx::Comparison::ls:
        case ptx::Comparison::hi:
        case ptx::Comparison::hs:
            return type == ptx::Type::u32 || type == ptx::Type::u64;
        default:
            return false;
    }
}

// A comparison of integers, and nothing else, that makes one predicate.
[[nodiscard]] inline bool is_plain_comparison(const ptx::Instruction& i) {
    return i.opcode == ptx::Opcode::setp && i.destination_count == 1 && i.operands.size() == 3 &&
           i.modifiers.boolean_op == ptx::BooleanOp::none && is_counting_type(i.type) &&
           is_compared(i.modifiers.comparison, i.type);
}

// A sum or difference of integers, and nothing else.
[[nodiscard]] inline bool is_plain_sum(const ptx::Instruction& i) {
    return (i.opcode == ptx::Opcode::add || i.opcode == ptx::Opcode::sub) && is_counting_type(i.type) &&
           !i.modifiers.sat && !i.modifiers.carry_out && i.operands.size() == 3 && i.destination_count == 1 &&
           i.operands[0].kind == ptx::Operand::Kind::reg;
}

// A whole register, as it is.
[[nodiscard]] inline bool is_plain_register(const ptx::Operand& o) {
    return o.kind == ptx::Operand::Kind::reg && !o.negated && o.text.empty();
}

[[nodiscard]] inline bool has_state(const ptx::Instruction& i) {
    return ptx::reads(i, ptx::State::carry) || ptx::writes(i, ptx::State::carry) ||
           ptx::reads(i, ptx::State::stack) || ptx::writes(i, ptx::State::stack);
}

// What memory holds, and with it whether it is what it would be, comes into its result.
[[nodiscard]] inline bool reads_memory(const ptx::Instruction& i) {
    switch (ptx::info(i.opcode).opcode_class) {
        case ptx::OpcodeClass::pure:
        case ptx::OpcodeClass::control:
        case ptx::OpcodeClass::hint:
        case ptx::OpcodeClass::image_query:
            return false;
        case ptx::OpcodeClass::load:
            return i.modifiers.space != ptx::Space::param && i.modifiers.space != ptx::Space::constant;
        default:
            return true;
    }
}

// Of an iteration that may be left out: it computes, loads or stores, and is nothing that other threads could wait for.
[[nodiscard]] inline bool is_plain_work(const ptx::Instruction& i) {
    const ptx::OpcodeClass kind = ptx::info(i.opcode).opcode_class;
    return i.guard == ptx::no_index && !ptx::is_ordered(i) && !has_state(i) &&
           (kind == ptx::OpcodeClass::pure || kind == ptx::OpcodeClass::load ||
            kind == ptx::OpcodeClass::store || kind == ptx::OpcodeClass::hint);
}

// A branch to one place, be it under a guard.
[[nodiscard]] inline bool is_plain_branch(const ptx::Instruction& i) {
    return i.opcode == ptx::Opcode::bra && i.operands.size() == 1 && !has_state(i);
}

}  // namespace trimtab::schedule
