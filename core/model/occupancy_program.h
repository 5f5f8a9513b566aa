// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The occupancy rule as a part of a rational program: occupancy() interprets it, and the performance models
// build on it, so that there is one rule.
#pragma once

#include "core/model/rational_program.h"

namespace trimtab::model {

struct OccupancyValues {
    Value warps_per_block;
    // Blocks an SM holds by each limit alone.
    Value by_threads, by_blocks, by_registers, by_shared_memory;
    Value fits;           // 0: a block of this size cannot be launched
    Value blocks_per_sm;  // 0 where it does not fit
};

// Reads the inputs device.*, image.* and dynamic_shared_bytes.
[[nodiscard]] OccupancyValues add_occupancy(RationalProgramBuilder& builder, Value threads_per_block);

}  // namespace trimtab::model
