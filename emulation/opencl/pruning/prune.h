// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work-group size that is predicted best, found without simulating most of them (section 6).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "emulation/opencl/pruning/bounds.h"
#include "emulation/opencl/pruning/round_traces.h"

namespace trimtab::pruning {

// Every size of at most `most` items in `dimensions` dimensions, x slowest: 7 262 in two for 1 024 items, 1 024 in one.
[[nodiscard]] std::vector<trimtab_dim3> design_space(unsigned dimensions, std::uint32_t most);

enum class Method : std::uint8_t {
    // Estimates by a few warps and the lines of two groups come first: traces are made in their order, as long as they are
    // below the best time found. Both they and the bounds are raised by what the simulation has added to those of every size so
    // far, once there are enough. So what is left out is not shown to be worse. Of up to 512 sizes all traces are made, as for ordered.
    screened,
    // Sizes in the order of their lower bounds, each simulated as long as its bound is below the best time found: no size that
    // is left out can be better.
    ordered,
    algorithm_4,  // the paper's: lower bounds against upper bounds, then every size that is left
    exhaustive    // every size, nothing pruned
};
[[nodiscard]] std::string_view name(Method method);

enum class BoundKind : std::uint8_t { proved, paper };

struct PruneSettings {
    Method method = Method::screened;
    BoundKind bounds = BoundKind::proved;  // of algorithm 4
    // Of screened and ordered: sizes that can be better than the best time found by no more than this share of it are left out.
    double least_gain = 0.01;
    // Memory latencies grow as the multiprocessor is filled less (section 5.1.2): by the ratio of its most warps to those that
    // are active.
    bool scales_latency = false;
};

enum class Fate : std::uint8_t {
    refused,    // the device cannot launch it
    unlikely,   // its estimate is far above the best time
    duplicate,  // another size of the same traces needs fewer rounds
    inferior,   // its best case is worse than another's worst case, or than a simulated time
    simulated
};
[[nodiscard]] std::string_view name(Fate fate);

struct SizeResult {
    trimtab_dim3 size{1, 1, 1};
    Fate fate = Fate::refused;
    std::uint32_t groups_at_once = 0, warps_at_once = 0;
    double rounds = 0;                 // sub-item 2 of equation (10)
    double estimate_ns = 0;            // of screened
    double best_ns = 0, worst_ns = 0;  // bounds of the launch's time
    double ns = 0;                     // simulated: of itself, or of the size that a duplicate duplicates
    std::size_t representative = 0;    // of its batch: index of a size; its own where it is one
};

struct PruneResult {
    std::vector<SizeResult> sizes;  // in the order asked for
    std::size_t best = 0;           // index of the chosen one; sizes.size(): none can be launched
    std::size_t launchable = 0, traced = 0, batches = 0, simulated = 0, traces = 0;
    double trace_seconds = 0, search_seconds = 0;  // of making traces; of bounds and simulation

    [[nodiscard]] double pruned_share() const {
        return launchable == 0 ? 0 : 1 - static_cast<double>(simulated) / static_cast<double>(launchable);
    }
};

struct PruneRequest {
    const trimtab_device* device = nullptr;
    trimtab_image image{};
    double dynamic_local_bytes = 0,
           local_bytes_per_item = 0;  // of a group: the one and, for each item, the other
    trimtab_dim3 global{1, 1, 1};     // work items
    std::span<const trimtab_dim3> sizes;
    PruneSettings settings{};
    // The traces of a round: static or emulated. nullopt refuses the size.
    std::function<std::optional<Round>(const GroupPlacement&, std::uint32_t local_bytes,
                                       double latency_factor)>
        traces;
    // Of screened: what a round takes, roughly. Empty: traces are made of all sizes.
    std::function<RoundSums(const GroupPlacement&, double latency_factor)> estimate{};
    const TracePool* pool = nullptr;
    const Latencies* latencies = nullptr;
    std::function<void(std::size_t done, std::size_t of)> progress{};  // may be empty
};

[[nodiscard]] PruneResult prune(const PruneRequest& request);

// Algorithm 4: which of the launches, given their bounds, are not inferior. Line 9 is as the text has it: a launch goes out
// whose lower bound is above another's upper bound.
[[nodiscard]] std::vector<bool> not_inferior(std::span<const double> best, std::span<const double> worst);

}  // namespace trimtab::pruning
