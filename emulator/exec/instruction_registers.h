// The registers that an instruction reads and writes.
#pragma once

#include "ptx/module.h"

namespace trimtab::emulator {

template <class Visit>
void visit_registers(const ptx::Operand& operand, const Visit& visit) {
    if (operand.reg != ptx::no_index) visit(operand.reg);
    for (const ptx::Operand& element : operand.elements) visit_registers(element, visit);
}

template <class Visit>
void visit_reads(const ptx::Instruction& instruction, const Visit& visit) {
    for (const ptx::Operand& operand : instruction.sources()) visit_registers(operand, visit);
    if (instruction.guard != ptx::no_index) visit(instruction.guard);
}

template <class Visit>
void visit_writes(const ptx::Instruction& instruction, const Visit& visit) {
    for (const ptx::Operand& operand : instruction.destinations()) visit_registers(operand, visit);
}

}  // namespace trimtab::emulator
