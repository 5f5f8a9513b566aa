// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executions of blocks and edges of a control-flow graph, as far as they follow from those that are known:
// what goes into a block comes out of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ptx/graph.h"

namespace trimtab::sass {

struct FlowCounts {
    // Unknown where not known[b]; entries: times that block 0 is entered from outside.
    std::vector<double> blocks;
    std::vector<bool> known;
    std::vector<std::vector<double>> edges;  // by block and successor; NaN: unknown
};

struct KnownEdge {
    std::uint32_t from = 0, to = 0;
    double executions = 0;
};

// `leaks`: blocks that some of what enters leaves the function from (an exit under a guard). Counts that do not
// fit each other are left as they are.
[[nodiscard]] FlowCounts conserve_flow(const ptx::Graph& successors, const std::vector<bool>& leaks,
                                       double entries, std::vector<double> blocks, std::vector<bool> known,
                                       std::span<const KnownEdge> known_edges = {});

}  // namespace trimtab::sass
