// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `trimtab prune` answers, for people and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/trimtab/pruned_launch.h"

namespace trimtab::tools {

// A size beside which the chosen one is shown.
struct OtherSize {
    std::string what;  // "as written"
    pruning::SizeResult result;
};

struct PruneReport {
    const LaunchQuestion& question;
    trimtab_dim3 global;
    const PrunedLaunch& pruned;
    std::string method, metrics;
    std::uint32_t unknown_trips = 1;
    bool lists_all = false, has_contents = false;  // of arrays: a captured launch's
    std::vector<std::size_t> ranking;              // of the sizes that were simulated, the least time first
    std::vector<OtherSize> others;
};

[[nodiscard]] std::string to_json(const PruneReport& report);
[[nodiscard]] std::string to_text(const PruneReport& report);

}  // namespace trimtab::tools
