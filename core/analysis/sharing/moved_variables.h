// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables in shared memory that become variables of another state space: constant memory for tables, global memory for
// bins (block_tables.h).
#pragma once

#include "core/ptx/module.h"

namespace trimtab::analysis {

// The access goes to that space.
void move_access(ptx::Instruction& access, ptx::Space space);
// The function gets a variable of its own in that space, and every operand that names `variable` names it from then on.
void move_variable(ptx::Function& function, const ptx::Variable& variable, ptx::Space space);

}  // namespace trimtab::analysis
