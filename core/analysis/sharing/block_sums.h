// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums over a launch that its blocks, or its warps, bring together first: each thread's value goes by shuffles or shared
// memory to one thread of the block or of each warp, and that thread adds what came together to global memory by an
// atomic. Sums are the same in any order and grouping, so that memory ends up as if each thread had added its own value.
#pragma once

#include <expected>

#include "core/analysis/sharing/block_tables.h"

namespace trimtab::analysis {

// The kernel as if each thread did so. The fault says what stands in the way: something else comes of what threads tell
// each other, say, or it does not come out so in blocks of several sizes; without a text: there is no such sum. Blocks
// are of one dimension, x: what `reads` says of the others is not looked at. The function has no calls.
[[nodiscard]] std::expected<BlockTables, Fault> with_block_sums(SymbolTable& table, const ptx::Module& module,
                                                                const ptx::Function& function,
                                                                const LaunchReads& reads,
                                                                bool may_reassociate);

}  // namespace trimtab::analysis
