// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stack slots as registers. Code that is not optimised keeps every variable in the thread's stack frame,
// where the values of registers cannot be followed.
#pragma once

#include <optional>

#include "core/ptx/module.h"

namespace trimtab::analysis {

// `function` with every load and store of a stack slot, and of the parameter space that passes arguments of
// calls written out in place, turned into a move from and to a register of its own, instruction for
// instruction, so that places in it stay what they were. Only slots of variables whose address goes nowhere
// but into such loads and stores: then no other memory access can reach them. Nothing: there are none.
[[nodiscard]] std::optional<ptx::Function> with_promoted_stack(const ptx::Function& function);

}  // namespace trimtab::analysis
