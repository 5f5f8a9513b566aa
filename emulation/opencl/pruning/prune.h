// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work-group size that is predicted best, found without simulating most of them (section 6).
#pragma once

#include <expected>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "emulation/opencl/pruning/kernel_code.h"
#include "emulation/schedule/traced_launch.h"
#include "trimtab/driver.h"

namespace trimtab::pruning {

// Every size of at most `most` items in `dimensions` dimensions, x slowest: 7 262 in two for 1 024 items, 1 024 in one.
[[nodiscard]] std::vector<trimtab_dim3> design_space(unsigned dimensions, std::uint32_t most);

enum class Method : std::uint8_t {
    // The sizes of the least estimates are simulated, `most_simulated` of them at most, a quarter of these with no more than half
    // of the most active warps; of sizes that estimates do not tell apart one. What is left out is not shown to be worse.
    screened,
    // Sizes in the order of their lower bounds (schedule/bounds.h), each simulated as long as its bound is below the best time
    // found: no size that is left out can be better.
    ordered,
    // The paper's static pruning (sections 6.1 and 6.2): of sizes with the same traces the one with the fewest rounds, and of
    // those what no other's worst case beats. Then every size that is left.
    algorithm_4,
    exhaustive  // every size, nothing pruned
};
[[nodiscard]] std::string_view name(Method method);

struct PruneSettings {
    Method method = Method::screened;
    // Of screened and ordered: sizes that can be better than the best time found by no more than this share of it are left out.
    double least_gain = 0.01;
    std::uint32_t most_simulated = 8;  // of screened
};

enum class Fate : std::uint8_t {
    refused,    // the device cannot launch it
    unlikely,   // its estimate is above that of sizes enough
    duplicate,  // another size of the same traces needs fewer rounds
    inferior,   // its best case is worse than another's worst case, or than a simulated time
    simulated
};
[[nodiscard]] std::string_view name(Fate fate);

// How a launch is cut into work-groups.
struct GroupPlacement {
    trimtab_dim3 group{1, 1, 1}, groups{1, 1, 1};
    std::uint32_t at_once = 1;      // of a multiprocessor: (7), or all that it gets
    std::uint32_t local_bytes = 0;  // of a group, beyond what the kernel declares
};

struct SizeResult {
    trimtab_dim3 size{1, 1, 1};
    Fate fate = Fate::refused;
    std::uint32_t groups_at_once = 0, warps_at_once = 0;
    double rounds = 0;                 // sub-item 2 of equation (10)
    double estimate_ns = 0;            // of screened
    double best_ns = 0, worst_ns = 0;  // bounds of the launch's time, where the method has them
    double ns = 0;                     // simulated; of a duplicate its representative's
    std::size_t representative = 0;    // of its batch: index of a size; its own where it is one
};

struct PruneResult {
    std::vector<SizeResult> sizes;  // in the order asked for
    std::size_t best = 0;           // index of the chosen one; sizes.size(): none can be launched
    std::size_t launchable = 0, traced = 0, batches = 0, simulated = 0;
    // Of the processor: of making traces; of estimates, bounds and simulation.
    double trace_seconds = 0, search_seconds = 0;

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
    // What abstract emulation is asked about: static traces, or those of runs. An error refuses the size.
    std::function<std::expected<schedule::TracedLaunch, Error>(const GroupPlacement&)> trace;
    const KernelCode* code = nullptr;  // of algorithm 4: whose launches `trace` gives
    // Of screened: what the launch takes, roughly, in any unit.
    std::function<double(const GroupPlacement&)> estimate{};
    std::function<void(std::size_t done, std::size_t of)> progress{};  // may be empty
};

[[nodiscard]] PruneResult prune(const PruneRequest& request);

// Algorithm 4: which of the launches, given their bounds, are not inferior. Line 9 is as the text has it: a launch goes out
// whose lower bound is above another's upper bound.
[[nodiscard]] std::vector<bool> not_inferior(std::span<const double> best, std::span<const double> worst);

}  // namespace trimtab::pruning
