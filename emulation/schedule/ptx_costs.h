// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction of PTX asks of an SM. PTX is not the machine's code: copies, conversions of pointers and
// reads of parameters are none of its instructions, and divisions are several.
#pragma once

#include "core/model/architecture.h"
#include "core/ptx/module.h"
#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

struct CostSettings {
    const model::Architecture& architecture;
    bool l1_caches_loads = false;  // those that say nothing of their own
};

// Everything of an Instruction but its registers, its access, its region and its source.
[[nodiscard]] Instruction cost_of(const ptx::Instruction& instruction, const CostSettings& settings);

}  // namespace trimtab::schedule
