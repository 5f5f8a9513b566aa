// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory in which a block's threads keep what is no block's own:
// - tables: filled by all threads of the block, each place with what every block fills it with, and read behind a
//   barrier; to the rest of the proof they are constant memory;
// - bins: filled with what adds nothing, added to by atomics without a result between two barriers, and added place
//   by place to global memory: as if each atomic went there at once.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <set>
#include <vector>

#include "core/analysis/sharing/strided_access.h"
#include "core/analysis/sharing/warp_bytes.h"
#include "core/analysis/values/function_values.h"
#include "core/ptx/module.h"

namespace trimtab::analysis {

struct BlockTables {
    // With tables in constant memory and bins in global memory, and without fills, flushes and barriers.
    ptx::Function function;
    // The atomics of bins: where they go is in `ranges`.
    std::set<std::uint32_t> bin_atomics;
    // Global memory that blocks as wholes read to fill their tables, and add their bins to. What else the kernel
    // touches must be shown to lie apart from it.
    std::vector<StridedAccess> ranges;
    bool has_bins = false;
    // That a block needs, for its first threads to fill or flush everything; 0: any number.
    std::uint32_t least_threads = 0;
    // Stores that fill tables, and the heads of loops that do.
    std::set<std::uint32_t> fills;
    std::set<ptx::BlockIndex> fill_loops;
    // What is left on both sides of a barrier was ordered by it.
    bool orders_others = false;
    // Of sums (block_sums.h): what the block must be, and the most threads; 0: any number.
    BlockWidth block = BlockWidth::any;
    std::uint32_t most_threads = 0;
    std::optional<WarpBytes> dynamic_shared;
    // Of tables and bins in dynamic shared memory: the bytes of them that a block uses, whatever its size is.
    Symbolic dynamic_bytes;
};

// The fault says what stands in the way; without a text: there is no such memory. Blocks are of one dimension, x: what
// `reads` says of the others is not looked at. The function has no calls.
[[nodiscard]] std::expected<BlockTables, Fault> with_block_tables(SymbolTable& table,
                                                                  const ptx::Module& module,
                                                                  const ptx::Function& function,
                                                                  const LaunchReads& reads,
                                                                  bool may_reassociate);

}  // namespace trimtab::analysis
