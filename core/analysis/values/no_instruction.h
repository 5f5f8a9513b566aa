// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that a rewriting takes out stay in their places as ones that do nothing: places in a body have numbers.
#pragma once

#include "core/ptx/module.h"

namespace trimtab::analysis {

// A register that nothing reads.
ptx::RegisterIndex add_unused_register(ptx::Function& function);
void become_nothing(ptx::Instruction& instruction, ptx::RegisterIndex unused);

}  // namespace trimtab::analysis
