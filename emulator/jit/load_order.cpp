#include "emulator/jit/load_order.h"

#include "emulator/jit/shapes.h"

namespace trimtab::emulator::jit {

using ptx::Opcode;

bool is_ordered(const ptx::Instruction& instruction) {
    return instruction.modifiers.semantics != ptx::MemorySemantics::weak ||
           instruction.modifiers.cache == ptx::CacheOp::cv;
}

bool is_load(const ptx::Instruction& instruction) {
    return instruction.opcode == Opcode::ld || instruction.opcode == Opcode::ldu;
}

bool is_passed(const ptx::Instruction& instruction) {
    return is_elementwise(instruction.opcode) ||
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
