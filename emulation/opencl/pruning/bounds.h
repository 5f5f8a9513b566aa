// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The best and the worst case of a round, without simulation (sections 6.2.2 and 6.2.3).
#pragma once

#include "emulation/opencl/pruning/trace.h"

namespace trimtab::pruning {

struct Bounds {
    double best_cycles = 0, worst_cycles = 0;
};

// Equations (11) to (21). Transactions of one access follow each other: where an access has several, D is what they take
// together. (13) prints the time of one warp where all N_i of a trace pass the unit one by one: it is taken N_i times.
[[nodiscard]] Bounds paper_bounds(const Round& round, const TracePool& pool, const Latencies& latencies);

// Bounds that the simulation cannot leave. At best a component works without a pause from the earliest moment at which a warp
// can come to it, and what the warp that it serves last has left to do is the least that any has; and no round is over before
// its longest warp. At worst the warp that ends last has waited, besides its
// own operations (from barrier to barrier the longest warp's), for all that the components did for others: who waits for a
// component waits while it works.
[[nodiscard]] Bounds proved_bounds(const Round& round, const TracePool& pool);

// The first of them, of sums over a round that were had otherwise.
struct RoundSums {
    std::array<double, component_count> busy_cycles{}, head_cycles{},
        tail_cycles{};          // heads and tails: the least
    double longest_cycles = 0;  // the longest warp's own time

    RoundSums();
    void add(const TraceSums& warp, double count);
    [[nodiscard]] double best_cycles() const;
};

}  // namespace trimtab::pruning
