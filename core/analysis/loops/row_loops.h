// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's loops over rows, for (r = blockIdx; r < rows; r += gridDim): where they end, for the launch to know which
// rows there are.
#pragma once

#include <expected>
#include <vector>

#include "core/analysis/loops/grid_stride.h"
#include "core/analysis/values/loop_indices.h"

namespace trimtab::analysis {

// The fault is at a loop that ends where arguments do not tell.
[[nodiscard]] std::expected<std::vector<StridedLoop>, Fault> row_loops(SymbolTable& table,
                                                                       const FunctionValues& kernel,
                                                                       const LoopIndices& indices);

}  // namespace trimtab::analysis
