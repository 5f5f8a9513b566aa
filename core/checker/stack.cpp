// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses are of a thread's own stack.
#include <algorithm>

#include "core/checker/reading.h"
#include "core/ptx/opcodes.h"

namespace trimtab::checker {

using ptx::no_index;
using ptx::Opcode;

void Reading::find_stack_accesses() {
    const auto variable_named = [&](Atom of) -> const ptx::Variable* {
        if (of < first_value || of >= first_value + ssa_.values.size() ||
            ssa_.values[of - first_value].kind != ptx::Value::Kind::instruction)
            return nullptr;
        for (const ptx::Operand& from : function().body[ssa_.values[of - first_value].instruction].operands)
            if (const ptx::Variable* variable = from.text.empty() ? nullptr : function().variable(from.text))
                return variable;
        return nullptr;
    };
    const auto is_alloca = [&](Atom of) {
        return of >= first_value && of < first_value + ssa_.values.size() &&
               ssa_.values[of - first_value].kind == ptx::Value::Kind::instruction &&
               function().body[ssa_.values[of - first_value].instruction].opcode == Opcode::alloca_;
    };
    const bool has_stack =
        std::ranges::any_of(function().variables,
                            [](const ptx::Variable& of) { return of.space == ptx::Space::local; }) ||
        std::ranges::any_of(function().body,
                            [](const ptx::Instruction& made) { return made.opcode == Opcode::alloca_; });
    of_stack_.resize(function().body.size());
    may_be_of_stack_.resize(function().body.size());
    for (std::uint32_t i = 0; i < of_stack_.size(); i++) {
        const ptx::Instruction& made = function().body[i];
        const ptx::OpcodeClass of = ptx::info(made.opcode).opcode_class;
        if ((of != ptx::OpcodeClass::load && of != ptx::OpcodeClass::store &&
             of != ptx::OpcodeClass::atomic) ||
            !is_reachable(flow_.block_of[i]))
            continue;
        of_stack_[i] = may_be_of_stack_[i] = made.modifiers.space == ptx::Space::local;
        if (made.modifiers.space == ptx::Space::generic && has_stack) {
            // Where it begins: an argument and a name of another space are no place on the stack.
            bool is_elsewhere = false;
            for (const ptx::Ssa::Use& use : ssa_.uses[i])
                if (use.value != no_index && made.operands.size() > use.operand &&
                    made.operands[use.operand].kind == ptx::Operand::Kind::address)
                    for (const auto& [atoms, coefficient] : forms_[use.value].terms) {
                        if (atoms.size() != 1 || coefficient != 1) continue;
                        const ptx::Variable* variable = variable_named(atoms[0]);
                        of_stack_[i] = of_stack_[i] || is_alloca(atoms[0]) ||
                                       (variable != nullptr && variable->space == ptx::Space::local);
                        is_elsewhere |= atoms[0] >= first_parameter &&
                                        (atoms[0] & 0xff) != static_cast<Atom>(ptx::Type::b32);
                    }
            may_be_of_stack_[i] = of_stack_[i] || !is_elsewhere;
        }
        if (may_be_of_stack_[i] && of != ptx::OpcodeClass::load) stack_stores_.push_back(i);
    }
}

}  // namespace trimtab::checker
