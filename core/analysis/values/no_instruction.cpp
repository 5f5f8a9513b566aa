// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/values/no_instruction.h"

namespace trimtab::analysis {

ptx::RegisterIndex add_unused_register(ptx::Function& function) {
    function.registers.push_back({"%nothing", ptx::Type::b32});
    return static_cast<ptx::RegisterIndex>(function.registers.size() - 1);
}

void become_nothing(ptx::Instruction& instruction, ptx::RegisterIndex unused) {
    ptx::Operand to, zero;
    to.kind = ptx::Operand::Kind::reg;
    to.reg = unused;
    zero.kind = ptx::Operand::Kind::immediate;
    instruction.opcode = ptx::Opcode::mov;
    instruction.type = ptx::Type::b32;
    instruction.source_type = ptx::Type::none;
    instruction.modifiers = {};
    instruction.operands = {to, zero};
    instruction.destination_count = 1;
    instruction.guard = ptx::no_index;
    instruction.guard_negated = false;
    instruction.suffixes = {"b32"};
    instruction.mnemonic = "mov.b32";
}

}  // namespace trimtab::analysis
