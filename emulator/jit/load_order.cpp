#include "emulator/jit/load_order.h"

#include "ptx/opcodes.h"

namespace trimtab::emulator::jit {

bool is_ordered(const ptx::Instruction& instruction) {
    return instruction.modifiers.semantics != ptx::MemorySemantics::weak ||
           instruction.modifiers.cache == ptx::CacheOp::cv;
}

bool is_passed(const ptx::Instruction& instruction) {
    return is_elementwise(instruction) ||
           (is_load(instruction) && instruction.modifiers.semantics == ptx::MemorySemantics::weak);
}

bool writes_to(const ptx::Instruction& instruction, ptx::RegisterIndex reg) {
    for (const ptx::Operand& to : instruction.destinations()) {
        if (to.kind == ptx::Operand::Kind::reg && to.reg == reg) return true;
        for (const ptx::Operand& element : to.elements) {
            if (element.kind == ptx::Operand::Kind::reg && element.reg == reg) return true;
        }
    }
    return false;
}

}  // namespace trimtab::emulator::jit
