// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often a warp waits for global memory in a stretch of straight code (Metric::dependent_rounds).
//
// A warp issues in order and waits where an instruction reads a register whose load is under way; ptxas moves
// independent loads of a basic block together. So each pass through a region costs as many rounds as its
// longest chain of dependent global loads: a load's round is one more than the latest round among the values
// that its address is made from and, as it may not move above a store that could write the same memory, than
// what such a store before it has waited for (a load through the read-only path may). A barrier or fence
// holds back the loads after it until what stands before it has got its operands. Loads that nothing in their
// region waits for (prefetches) share their round with the next region's first loads, if those do not need
// them.
#pragma once

#include <cstdint>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/code.h"

namespace trimtab::emulator {

// Of instructions [first, last) of `function`, all of one basic block.
void analyse_rounds(const ptx::Function& function, std::uint32_t first, std::uint32_t last,
                    RegionInfo& region);

}  // namespace trimtab::emulator
