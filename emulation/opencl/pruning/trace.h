// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution traces: what each warp of a round of active work-groups does, in order (section 4.2).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulation/opencl/pruning/components.h"

namespace trimtab::pruning {

// An operation: it holds its component for busy_cycles and the warp for wait_cycles more. Loops of many iterations
// are kept for a few of them: `weight` is how many iterations an operation of a kept one stands for.
struct Operation {
    float busy_cycles = 0, wait_cycles = 0, weight = 1;
    Component component = Component::fpu;
    bool is_barrier = false;         // of the work-group; its other numbers count for nothing
    std::uint16_t transactions = 0;  // of memory

    friend bool operator==(const Operation&, const Operation&) = default;
};
static_assert(sizeof(Operation) == 16);  // no holes: it is hashed as it lies

using WarpTrace = std::vector<Operation>;

// What bounds and pruning need of one trace.
struct TraceSums {
    std::array<double, component_count> busy_cycles{};  // of one warp, all iterations
    std::array<double, component_count> accesses{};     // kappa of equation (16)
    // Of the warp's own time: before its first operation of a component, and behind the work of its last one.
    std::array<double, component_count> head_cycles{}, tail_cycles{};
    double serial_cycles = 0;          // alone on the multiprocessor
    bool is_cut = false;               // some operation stands for more than one iteration
    std::vector<double> phase_cycles;  // serial_cycles, from barrier to barrier
};

[[nodiscard]] TraceSums sums_of(const WarpTrace& trace);

using TraceIndex = std::uint32_t;

// Equal traces are one.
class TracePool {
  public:
    TraceIndex intern(const WarpTrace& trace);
    [[nodiscard]] const WarpTrace& trace(TraceIndex index) const { return traces_[index]; }
    [[nodiscard]] const TraceSums& sums(TraceIndex index) const { return sums_[index]; }
    [[nodiscard]] std::size_t size() const { return traces_.size(); }

  private:
    std::vector<WarpTrace> traces_;
    std::vector<TraceSums> sums_;
    std::unordered_multimap<std::uint64_t, TraceIndex> by_hash_;
};

// The active work-groups of one multiprocessor: warp i of group g is at [g * warps_per_group + i].
struct Round {
    std::uint32_t warps_per_group = 1;
    std::vector<TraceIndex> warps;
    bool has_barriers = false;
};

}  // namespace trimtab::pruning
