// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between which times an answer must lie, whatever the order of the warps: counted from a launch's trace alone.
//
// Nothing here calls the scheduler, so that an error there shows. Like its answers, the counts take the later of a
// loop's recorded iterations for those that were left out.
#pragma once

#include <string>

#include "emulation/schedule/traced_launch.h"

namespace trimtab::schedule {

struct Bounds {
    // No SM is faster than its busiest resource is at all it is asked for, nor a place for a block than the longest
    // chain of dependent instructions of a warp.
    double least_cycles = 0;
    std::string least_by;    // the resource's name, or "dependences"
    double most_cycles = 0;  // every instruction of every warp by itself, one after the other
};

// The longest chain of dependent instructions of a warp, if every access hits the nearest cache: of each traced block's
// longest warp, the least.
[[nodiscard]] double chain_cycles(const TracedLaunch& launch);

// In cycles of the busiest SM, of the launch as it was traced.
[[nodiscard]] Bounds bounds(const TracedLaunch& launch);

}  // namespace trimtab::schedule
