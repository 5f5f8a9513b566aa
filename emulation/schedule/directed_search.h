// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search that is led by bottlenecks: each launch that was emulated says, by its sensitivities, what others would
// gain from fewer requests to a resource or from more warps, and the one that promises most comes next.
#pragma once

#include <optional>

#include "emulation/schedule/search.h"

namespace trimtab::schedule {

struct DirectedOptions {
    std::optional<std::size_t> start{};  // else what is known before any emulation decides
    std::size_t most = 0;                // emulations
    bool stops = true;                   // where some in a row have gained nothing
};

[[nodiscard]] SearchResult directed_search(const SearchSpace& space, const EmulateCandidate& emulate,
                                           const DirectedOptions& options);

}  // namespace trimtab::schedule
