// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pruning of emulation/opencl/pruning, asked of a launch on the command line.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulation/opencl/pruning/prune.h"
#include "emulation/opencl/pruning/warp_walk.h"
#include "tools/trimtab/launch_options.h"
#include "trimtab/error.h"

namespace trimtab::tools {

enum class TraceMetrics : std::uint8_t { by_static_analysis, emulated };

struct PruneOptions {
    trimtab_dim3 global{1, 1, 1};  // work items
    double dynamic_local_bytes = 0, local_bytes_per_item = 0;
    std::vector<trimtab_dim3> sizes;
    TraceMetrics metrics = TraceMetrics::by_static_analysis;
    pruning::PruneSettings settings{};
    pruning::WalkSettings walk{};
    bool loads_bypass_l1 = false, from_ptx = false;
    std::function<void(std::size_t done, std::size_t of)> progress{};
};

// What the static analysis took for want of knowledge, as source places ("kernel.cl:12") or names of blocks.
struct Assumptions {
    std::vector<std::string> branches, loops, addresses;
    bool is_cut = false;
    // Where the code goes past its local memory in some of the sizes, which are refused; and in how many.
    std::vector<std::string> beyond_local;
    std::size_t contradicted = 0;
};

struct PrunedLaunch {
    pruning::PruneResult result;
    Assumptions assumed;
};

[[nodiscard]] std::expected<PrunedLaunch, Error> prune_launch(const LaunchQuestion& question,
                                                              const PruneOptions& options);

}  // namespace trimtab::tools
