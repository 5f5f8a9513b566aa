// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the instructions do that bring together what the threads of a warp have.
#pragma once

#include "core/analysis/values/iteration_sums.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

// Does redux.sync bring values together by the operation of the sum?
[[nodiscard]] bool reduces(const ptx::Instruction& instruction, const IterationSum& sum);

}  // namespace trimtab::analysis
