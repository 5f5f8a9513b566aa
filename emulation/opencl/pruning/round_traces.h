// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The traces of a round of active work-groups: walks of its warps, and what their accesses find in the caches.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "emulation/opencl/pruning/bounds.h"
#include "emulation/opencl/pruning/group_fetches.h"
#include "emulation/opencl/pruning/reuse_distance.h"
#include "emulation/opencl/pruning/trace.h"
#include "emulation/opencl/pruning/warp_walk.h"
#include "trimtab/driver.h"

namespace trimtab::pruning {

// How a launch is cut into work-groups, and which of them one multiprocessor has at once: groups go to the
// multiprocessors in iteration, and those in the middle of its own stand for all. Groups at the launch's edges may
// do less than others: where there are rounds without them, one of those is taken.
struct GroupPlacement {
    trimtab_dim3 group{1, 1, 1}, groups{1, 1, 1};
    std::uint64_t group_count = 1;
    std::uint64_t groups_on_sm = 1;  // of the multiprocessor that has the most
    std::uint32_t at_once = 1;
    std::uint64_t first = 0;  // of the multiprocessor's groups: where the round begins

    // `resident`: groups that fit a multiprocessor.
    [[nodiscard]] static GroupPlacement of(trimtab_dim3 global, trimtab_dim3 group, std::uint32_t sm_count,
                                           std::uint32_t resident);
    // Linear index of the i-th group of the round.
    [[nodiscard]] std::uint64_t group_at(std::uint32_t i, std::uint32_t sm_count) const;
};

// Accesses in the order in which the warps of a round make them, one of each warp in turn, against L2's share and
// the constant cache; warps' operations with what was found.
class CachedRound {
  public:
    CachedRound(const Latencies& latencies, TracePool& pool)
        : latencies_(latencies),
          pool_(pool),
          l2_(latencies.l2_bytes / line_bytes),
          constant_(latencies.constant_bytes / constant_line_bytes) {}

    // `latency_factor`: on every memory latency (section 5.1.2).
    [[nodiscard]] Round classify(std::span<const WalkedWarp> warps, std::uint32_t warps_per_group,
                                 double latency_factor);
    // The same in steps: after meet(), the trace of its w-th warp.
    void meet(std::span<const WalkedWarp> warps);
    [[nodiscard]] const WarpTrace& trace(const WalkedWarp& warp, std::size_t w, double latency_factor);
    struct Found {
        std::uint32_t hits = 0, misses = 0;  // sectors, of local memory passes
    };
    [[nodiscard]] Found found(std::size_t w, std::size_t access) const { return found_[w][access]; }

  private:
    [[nodiscard]] Found find(const WalkedWarp& warp, const WalkedAccess& access);
    void append(const WalkedAccess& access, Found found, float weight, double latency_factor);

    const Latencies& latencies_;
    TracePool& pool_;
    ReuseCache l2_, constant_;
    std::vector<std::vector<Found>> found_;  // by warp and access
    WarpTrace trace_;
};

// The static traces of a kernel's launch for any size of its work-groups.
class StaticTraces {
  public:
    StaticTraces(const KernelCode& code, std::span<const std::byte> arguments, const WalkSettings& settings,
                 const Latencies& latencies, TracePool& pool)
        : latencies_(latencies),
          walk_(code, arguments, settings),
          cached_(latencies, pool),
          fetches_(latencies.l2_bytes / line_bytes) {}

    [[nodiscard]] Round round(const GroupPlacement& placement, std::uint32_t sm_count, double latency_factor);
    // What the round would take at best, by a few of its warps: no bound, for the others may differ.
    [[nodiscard]] RoundSums estimate(const GroupPlacement& placement, std::uint32_t sm_count,
                                     double latency_factor);
    [[nodiscard]] const WalkNotes& notes() const { return walk_.notes(); }

  private:
    void walk(const GroupPlacement& placement, std::uint32_t sm_count, std::uint32_t group,
              std::uint32_t warp, const WarpLanes& lanes, WalkedWarp& out);

    // A warp's sums with what its group fetches of each access.
    [[nodiscard]] TraceSums with_fetches(TraceSums sums, const WalkedWarp& warp, std::size_t w,
                                         const std::vector<std::optional<double>>& fetches,
                                         double latency_factor) const;

    const Latencies& latencies_;
    WarpWalk walk_;
    CachedRound cached_;
    GroupFetches fetches_;
    std::vector<WalkedWarp> warps_;
    std::vector<WarpLanes> lanes_;
};

}  // namespace trimtab::pruning
