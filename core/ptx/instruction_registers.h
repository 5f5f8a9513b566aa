// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers that an instruction reads and writes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/ptx/opcodes.h"

namespace trimtab::ptx {

// A vector's elements count from 0; of an address 0 is the base, and its further operands count from 1.
template <class Visit>
void visit_registers(const Operand& operand, const Visit& visit) {
    const auto one = [&visit](RegisterIndex reg, std::size_t element) {
        if constexpr (std::is_invocable_v<const Visit&, RegisterIndex, std::uint16_t>)
            visit(reg, static_cast<std::uint16_t>(element));
        else
            visit(reg);
    };
    if (operand.reg != no_index) one(operand.reg, 0);
    const std::size_t first = operand.kind == Operand::Kind::address ? 1 : 0;
    for (std::size_t i = 0; i < operand.elements.size(); ++i) {
        if (operand.elements[i].reg != no_index) one(operand.elements[i].reg, first + i);
    }
}

// The guard apart: sources, and destinations that are read as well.
template <class Visit>
void visit_read_operands(const Instruction& instruction, const Visit& visit) {
    const std::size_t first = info(instruction.opcode).has(reads_result) ? 0 : instruction.destination_count;
    for (std::size_t i = first; i < instruction.operands.size(); ++i) visit(instruction.operands[i], i);
}

// Calls visit(register).
template <class Visit>
void visit_reads(const Instruction& instruction, const Visit& visit) {
    visit_read_operands(instruction,
                        [&](const Operand& operand, std::size_t) { visit_registers(operand, visit); });
    if (instruction.guard != no_index) visit(instruction.guard);
}
template <class Visit>
void visit_writes(const Instruction& instruction, const Visit& visit) {
    for (const Operand& operand : instruction.destinations()) visit_registers(operand, visit);
}

}  // namespace trimtab::ptx
