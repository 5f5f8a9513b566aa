#include "emulator/jit/load_order.h"

#include "ptx/instruction_registers.h"

namespace trimtab::emulator::jit {

bool is_passed(const ptx::Instruction& instruction) {
    return is_elementwise(instruction) ||
           (is_load(instruction) && instruction.modifiers.semantics == ptx::MemorySemantics::weak);
}

bool writes_to(const ptx::Instruction& instruction, ptx::RegisterIndex reg) {
    bool found = false;
    visit_writes(instruction, [&](ptx::RegisterIndex written) { found = found || written == reg; });
    return found;
}

}  // namespace trimtab::emulator::jit
