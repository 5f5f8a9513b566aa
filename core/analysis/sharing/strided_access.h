// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a kernel touch, as addresses that follow its loops' indices.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/values/symbolic.h"
#include "core/ptx/graph.h"

namespace trimtab::analysis {

struct StridedAccess {
    Symbolic address;
    std::uint32_t bytes = 0;
    bool writes = false;
    std::string reduction;  // of an atomic: its mnemonic
    // By dimension: outside the loops, where the thread of index 0 alone comes by.
    std::array<bool, 3> once{};
    // A bit for each phase of a block that it may be of; what shares none is kept apart by barriers.
    std::uint64_t phases = ~std::uint64_t{0};
    std::vector<ptx::BlockIndex> loops;  // headers of the loops over threads that it is in
};

// What a kernel touches otherwise than by its instructions as they stand (block_tables.h).
struct BesideIterations {
    std::set<std::uint32_t> instructions;  // that are no accesses of their own
    std::vector<StridedAccess> accesses;   // of blocks as wholes
    bool alone = false;                    // nothing else is to be compared
    // Where all threads of a block met, by instruction; those are none of the kernel's any more.
    std::vector<std::uint32_t> barriers;
};

}  // namespace trimtab::analysis
