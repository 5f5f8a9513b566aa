// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code may read how many blocks there are and make nothing of it: in grids of one dimension a flattened index
// multiplies it by 0.
#pragma once

#include "core/analysis/values/function_values.h"

namespace trimtab::analysis {

// Does the number of blocks or threads of the dimension reach a branch, memory, or a value that is not followed?
[[nodiscard]] bool total_matters(SymbolTable& table, const FunctionValues& kernel, Dimension dimension);

}  // namespace trimtab::analysis
