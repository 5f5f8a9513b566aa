// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dominators of any graph; control_flow() uses them forwards and backwards.
#pragma once

#include <cstdint>
#include <vector>

namespace trimtab::ptx {

using Graph = std::vector<std::vector<std::uint32_t>>;  // successors by node

// What `root` reaches, in reverse post-order of a depth-first walk that takes successors in their order.
[[nodiscard]] std::vector<std::uint32_t> reverse_post_order(const Graph& successors, std::uint32_t root);

// By node; 0xffffffff for the root and for what it does not reach. Georgiadis's Semi-NCA algorithm
// ("Linear-Time Algorithms for Dominators and Related Problems", 2005).
[[nodiscard]] std::vector<std::uint32_t> immediate_dominators(const Graph& successors,
                                                              const Graph& predecessors, std::uint32_t root);

}  // namespace trimtab::ptx
