// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/wrong_values.h"

#include <algorithm>

#include "emulation/schedule/loop_instructions.h"

namespace trimtab::schedule {

using ptx::OpcodeClass;
using ptx::Operand;
using ptx::RegisterIndex;

bool WrongValues::steer_nothing() {
    while (spread()) {
    }
    return std::ranges::none_of(function_.body, [this](const auto& i) { return is_steered(i); });
}

bool WrongValues::is_wrong(const Operand& operand) const {
    bool found = false;
    ptx::visit_registers(operand, [&](RegisterIndex reg) { found = found || wrong_[reg]; });
    return found;
}

bool WrongValues::reads_wrong(const ptx::Instruction& i) const {
    bool found = false;
    ptx::visit_reads(i, [&](RegisterIndex reg) { found = found || wrong_[reg]; });
    return found;
}

// Wherever the instructions stand: that is more than can come to pass. Is there more than before?
bool WrongValues::spread() {
    bool is_more = false, is_carry_wrong = false;
    for (const ptx::Instruction& i : function_.body) {
        const bool takes_state = has_state(i);
        const bool is_right =
            !reads_wrong(i) && !(is_memory_wrong_ && reads_memory(i)) && !(takes_state && is_state_wrong_);
        if (is_right) continue;
        is_carry_wrong = is_carry_wrong || takes_state;
        ptx::visit_writes(i, [&](RegisterIndex reg) {
            is_more = is_more || !wrong_[reg];
            wrong_[reg] = true;
        });
        const OpcodeClass kind = ptx::info(i.opcode).opcode_class;
        const bool stays_in_registers = kind == OpcodeClass::pure || kind == OpcodeClass::control ||
                                        kind == OpcodeClass::load || kind == OpcodeClass::hint;
        if (!stays_in_registers && !is_memory_wrong_) is_memory_wrong_ = is_more = true;
    }
    if (is_carry_wrong && !is_state_wrong_) is_state_wrong_ = is_more = true;
    return is_more;
}

// It goes another way, or touches another place, for what is wrong.
bool WrongValues::is_steered(const ptx::Instruction& i) const {
    if (i.guard != ptx::no_index && wrong_[i.guard]) return true;
    switch (ptx::info(i.opcode).opcode_class) {
        case OpcodeClass::pure:
        case OpcodeClass::image_query:
            return false;
        case OpcodeClass::store:
        case OpcodeClass::atomic:
            return std::ranges::any_of(i.operands, [this](const Operand& o) {
                return o.kind == Operand::Kind::address && is_wrong(o);
            });
        default:
            return reads_wrong(i);
    }
}

}  // namespace trimtab::schedule
