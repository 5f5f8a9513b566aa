// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loads may be made before the instructions in front of them.
#pragma once

#include "core/ptx/module.h"

namespace trimtab::emulator::jit {

// It changes no memory and keeps the path as it is: loads behind it may be made before it.
[[nodiscard]] bool is_passed(const ptx::Instruction& instruction);
// All else may put a path aside, or join others to it: nothing is taken for granted behind it.
[[nodiscard]] bool stays_on_path(const ptx::Instruction& instruction);
[[nodiscard]] bool writes_to(const ptx::Instruction& instruction, ptx::RegisterIndex reg);

}  // namespace trimtab::emulator::jit
