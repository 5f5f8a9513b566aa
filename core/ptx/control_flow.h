// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control-flow graph of one function: basic blocks, dominators, post-dominators, loops.
#pragma once

#include <cstdint>
#include <expected>
#include <vector>

#include "core/ptx/graph.h"
#include "core/ptx/module.h"

namespace trimtab::ptx {

struct ControlFlow {
    // Block 0 is the entry, without predecessors: an empty block where a branch goes back to the first
    // instruction. The last block is empty where a branch goes to the body's end.
    //
    // A guarded bra has two successors: taken first, then fall-through. ret, exit and trap (unguarded) have
    // none; guarded they end a block as well, whose successor is what follows. brx has each target once.
    // Predecessors ascend.
    std::vector<BasicBlock> blocks;
    std::vector<BlockIndex> block_of;             // by instruction
    std::vector<BlockIndex> reverse_post_order;   // reachable blocks only
    std::vector<BlockIndex> immediate_dominator;  // no_index: the entry, or unreachable
    // no_index: the virtual exit. Blocks that never leave the function are joined to it where their loop
    // ends.
    std::vector<BlockIndex> immediate_post_dominator;
    std::vector<Loop> loops;                    // outer loops before inner ones
    std::vector<std::uint32_t> innermost_loop;  // by block; no_index: none
    bool reducible = true;

    [[nodiscard]] bool dominates(BlockIndex a, BlockIndex b) const;
    [[nodiscard]] bool post_dominates(BlockIndex a, BlockIndex b) const;
    // The blocks that control may come to after this one; itself only where it may come back.
    [[nodiscard]] std::vector<bool> reached_from(BlockIndex from) const;
    // Is there a way from behind the one instruction to the other?
    [[nodiscard]] bool leads(std::uint32_t from, std::uint32_t to) const;
    // Does every way to the second instruction lead by the first?
    [[nodiscard]] bool precedes(std::uint32_t first, std::uint32_t second) const {
        const BlockIndex a = block_of[first], b = block_of[second];
        return a == b ? first < second : dominates(a, b);
    }
};

// An indirect brx whose targets are unknown, or a branch out of the function, is an error naming the line.
[[nodiscard]] std::expected<ControlFlow, Error> control_flow(const Function& function);

}  // namespace trimtab::ptx
