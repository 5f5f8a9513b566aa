// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/load_order.h"

#include "core/ptx/instruction_registers.h"

namespace trimtab::emulator::jit {

bool is_passed(const ptx::Instruction& instruction) {
    return is_elementwise(instruction) ||
           (is_load(instruction) && instruction.modifiers.semantics == ptx::MemorySemantics::weak);
}

bool stays_on_path(const ptx::Instruction& instruction) {
    switch (ptx::info(instruction.opcode).opcode_class) {
        case ptx::OpcodeClass::pure:
            return !reads(instruction, ptx::State::stack) && !writes(instruction, ptx::State::stack);
        case ptx::OpcodeClass::load:
        case ptx::OpcodeClass::store:
        case ptx::OpcodeClass::atomic:
        case ptx::OpcodeClass::copy:
            return true;
        default:
            return false;
    }
}

bool writes_to(const ptx::Instruction& instruction, ptx::RegisterIndex reg) {
    bool found = false;
    visit_writes(instruction, [&](ptx::RegisterIndex written) { found = found || written == reg; });
    return found;
}

}  // namespace trimtab::emulator::jit
