// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/undefined_registers.h"

#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/ssa.h"

namespace trimtab::analysis::test {

bool reads_undefined(const ptx::Function& function) {
    const auto flow = ptx::control_flow(function);
    if (!flow) return true;
    const ptx::Ssa ssa = ptx::build_ssa(function, *flow);
    std::vector<bool> seen(ssa.values.size());
    std::vector<ptx::ValueIndex> pending;
    const auto visit = [&](ptx::ValueIndex value) {
        if (value == ptx::no_index || seen[value]) return;
        seen[value] = true;
        pending.push_back(value);
    };
    for (const auto& uses : ssa.uses)
        for (const ptx::Ssa::Use& use : uses) visit(use.value);
    while (!pending.empty()) {
        const ptx::Value& value = ssa.values[pending.back()];
        pending.pop_back();
        if (value.kind == ptx::Value::Kind::undefined) return true;
        for (const ptx::ValueIndex incoming : value.incoming) visit(incoming);
        visit(value.previous);
    }
    return false;
}

}  // namespace trimtab::analysis::test
