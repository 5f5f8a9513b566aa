// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs of numbered nodes: walks, dominators and natural loops. Basic blocks of PTX and of machine code are nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ptx/types.h"

namespace trimtab::ptx {

using Graph = std::vector<std::vector<std::uint32_t>>;  // successors by node

using BlockIndex = std::uint32_t;

struct BasicBlock {
    std::uint32_t first = 0, last = 0;  // instructions [first, last)
    std::vector<BlockIndex> successors, predecessors;
};

// What one step or more lead to from `starts`: a start is among it only where a walk comes back to it.
// steps(node, go) calls go(next) for each node that a step leads to.
template <class Steps>
[[nodiscard]] std::vector<bool> reached_from(std::size_t nodes, std::vector<std::uint32_t> starts,
                                             const Steps& steps) {
    std::vector<bool> reached(nodes);
    while (!starts.empty()) {
        const std::uint32_t at = starts.back();
        starts.pop_back();
        steps(at, [&](std::uint32_t next) {
            if (reached[next]) return;
            reached[next] = true;
            starts.push_back(next);
        });
    }
    return reached;
}

// What `root` reaches, in reverse post-order of a depth-first walk that takes successors in their order.
[[nodiscard]] std::vector<std::uint32_t> reverse_post_order(const Graph& successors, std::uint32_t root);

// By node; no_index for the root and for what it does not reach. Georgiadis's Semi-NCA algorithm
// ("Linear-Time Algorithms for Dominators and Related Problems", 2005).
[[nodiscard]] std::vector<std::uint32_t> immediate_dominators(const Graph& successors,
                                                              const Graph& predecessors, std::uint32_t root);
// A node dominates itself.
[[nodiscard]] bool dominates(const std::vector<std::uint32_t>& immediate, std::uint32_t a, std::uint32_t b);

struct Loop {
    BlockIndex header = 0;
    std::vector<BlockIndex> blocks;   // the header first, then ascending; those of loops in it too
    std::vector<BlockIndex> latches;  // sources of back edges
    std::uint32_t parent = no_index;  // the enclosing loop
    std::uint32_t depth = 1;

    [[nodiscard]] bool contains(BlockIndex block) const {
        return std::ranges::find(blocks, block) != blocks.end();
    }
};
// Back edges to dominators, and what leads to them; back edges to one header are one loop.
struct NaturalLoops {
    std::vector<Loop> loops;                    // outer loops before inner ones
    std::vector<std::uint32_t> innermost_loop;  // by node; no_index: none
    bool reducible = true;                      // no cycle is entered in several places
};
// `order`: reverse_post_order() from the root. Predecessors ascend.
[[nodiscard]] NaturalLoops natural_loops(const Graph& predecessors, const std::vector<std::uint32_t>& order,
                                         const std::vector<std::uint32_t>& immediate_dominator);

}  // namespace trimtab::ptx
