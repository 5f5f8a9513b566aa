// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of a launch, so that its emulation comes out the same in every run.
#pragma once

#include <cstddef>
#include <vector>

#include "core/analysis/launches/description.h"

namespace trimtab::choosing {

// All pointers moved by one distance, to where the lowest begins at a fixed address: systems put allocations elsewhere
// in every process, and caches place lines by their address. What lies beside what, where lines and sectors begin, and
// which pointers are null stays.
[[nodiscard]] std::vector<std::byte> with_moved_pointers(const analysis::KernelDescription& description,
                                                         std::vector<std::byte> parameters);

}  // namespace trimtab::choosing
