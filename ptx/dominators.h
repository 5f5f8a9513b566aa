// Dominators of any graph; control_flow() uses them forwards and backwards.
#pragma once

#include <cstdint>
#include <vector>

namespace trimtab::ptx {

using Graph = std::vector<std::vector<std::uint32_t>>;  // successors by node

// What `root` reaches, in reverse post-order of a depth-first walk that takes successors in their order.
[[nodiscard]] std::vector<std::uint32_t> reverse_post_order(const Graph& successors, std::uint32_t root);

// By node; 0xffffffff for the root and for what it does not reach. Cooper, Harvey and Kennedy, "A Simple,
// Fast Dominance Algorithm" (2001).
[[nodiscard]] std::vector<std::uint32_t> immediate_dominators(const Graph& predecessors,
                                                              const std::vector<std::uint32_t>& order);

}  // namespace trimtab::ptx
