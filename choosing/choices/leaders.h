// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launches that a cross-check compares with what was chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "choosing/choices/choose.h"
#include "choosing/crosscheck/verdict.h"

namespace trimtab::choosing {

struct Leaders {
    std::vector<CheckedLaunch>
        launches;             // what `decision` says first, then the others in the order of their times
    std::size_t written = 0;  // the launch as written, of launches
};

// Of a decision that choose() made for the launch, with a block that the driver program was asked for: it, the `count`
// blocks that the driver program finds best, where its predictions can be relied on, and the block as written. Fewer
// than two launches: there is nothing to compare.
[[nodiscard]] Leaders leaders_of(const Decision& decision, const PredictedKernel& kernel,
                                 const LaunchShape& shape, std::uint32_t count);

}  // namespace trimtab::choosing
