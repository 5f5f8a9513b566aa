// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the proof found of loops and accesses, written out for the launch.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/analysis/loops/grid_stride.h"

namespace trimtab::analysis {

// Nothing: one of its tests is too large to write out. The source is left empty.
[[nodiscard]] std::optional<GridStrideLoop> export_loop(const SymbolTable& table, const StridedLoop& loop);
// False: an address is too large. What is there already is not added again. `loops`: as they are exported, too.
[[nodiscard]] bool export_accesses(const SymbolTable& table, const std::vector<StridedAccess>& found,
                                   std::span<const StridedLoop> loops, std::vector<GridStrideAccess>& to);

}  // namespace trimtab::analysis
