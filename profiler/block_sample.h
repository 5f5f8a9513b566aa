// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks of a launch stand for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/backend.h"

namespace trimtab::profiler {

struct BlockRange {
    std::uint64_t first = 0, end = 1;  // block indices of one dimension
};

// About `wanted` blocks of the box `ranges`. The first and last of each dimension, which meet the guards, are
// told from those between; every combination is sampled, those that stand for more blocks more. Blocks of a
// combination are spread like rooks that do not threaten each other, at random, and in pairs that mirror each
// other, so that as many rows as may be are met and work that grows evenly along a dimension averages out
// exactly. Blocks of equal weight share a class. `seed` decides the places.
[[nodiscard]] std::vector<BlockClass> sample_blocks(const std::array<BlockRange, 3>& ranges,
                                                    const trimtab_dim3& grid, double wanted,
                                                    std::uint32_t seed);

// Up to `most` boxes of `blocks` blocks side by side, of those that tile `ranges` from its start.
[[nodiscard]] BoxOfBlocks sample_boxes(const std::array<BlockRange, 3>& ranges, const trimtab_dim3& grid,
                                       const std::array<std::uint32_t, 3>& blocks, std::size_t most,
                                       std::uint32_t seed);

}  // namespace trimtab::profiler
