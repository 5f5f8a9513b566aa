// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/loops/total_use.h"

#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/labels.h"

namespace trimtab::analysis {

// Without loops that stride by it, the total is the only source of `shape` in a kernel that keeps rule 1. A register
// that nothing reads may be made of it.
bool total_matters(SymbolTable& table, const FunctionValues& kernel, Dimension dimension) {
    const ptx::Function& function = kernel.function();
    const LoopIndices no_loops(table, kernel, {});
    const ptx::ControlDependence control(function, kernel.flow());
    const Labels labels(table, kernel, no_loops, control);
    for (std::uint32_t i = 0; i < function.body.size(); i++) {
        const ptx::Instruction& made = function.body[i];
        const bool only_writes_registers = is_pure(made) && made.destination_count > 0 &&
                                           ptx::info(made.opcode).opcode_class != ptx::OpcodeClass::control;
        if (kernel.is_reachable(i) && !only_writes_registers && labels.uses(i).has(Label::shape, dimension))
            return true;
    }
    return false;
}

}  // namespace trimtab::analysis
