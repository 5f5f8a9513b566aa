// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which boxes of blocks a counted launch must look at for the footprints that a performance model asks for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/metrics.h"
#include "core/model/rational_program.h"
#include "trimtab/driver.h"

namespace trimtab::emulator {

// Extents by dimension, in threads.
using ThreadBox = std::array<double, 3>;

// Blocks side by side: those of [first, first + count) in each dimension of the grid.
struct BlockBox {
    std::array<std::uint64_t, 3> first{0, 0, 0}, count{1, 1, 1};
    [[nodiscard]] std::uint64_t blocks() const { return count[0] * count[1] * count[2]; }
    // Linear indices in `grid`, ascending.
    [[nodiscard]] std::vector<std::uint64_t> indices(const trimtab_dim3& grid) const;
    [[nodiscard]] std::uint64_t first_index(const trimtab_dim3& grid) const;
    [[nodiscard]] std::uint64_t last_index(const trimtab_dim3& grid) const;
    [[nodiscard]] ThreadBox threads(const trimtab_dim3& block) const;
    friend bool operator==(const BlockBox&, const BlockBox&) = default;
};

// The boxes whose footprint_sectors `program` reads where its other metrics have `values`. They may depend on
// metrics (on how many blocks are active, say): where none is measured yet, `everything_active` will do.
[[nodiscard]] std::vector<ThreadBox> requested_boxes(const model::RationalProgram& program,
                                                     std::span<const double> inputs,
                                                     const model::MetricValues& values);
[[nodiscard]] model::MetricValues everything_active(const trimtab_dim3& grid, const trimtab_dim3& block);

// Boxes of whole blocks around those of `requested` that are larger than a block: the next smaller and the
// next larger, between which footprints are nearly linear. Then pairs of blocks along each dimension, from
// which footprints of boxes that are too large to be run can be judged. They lie in `within` (blocks that do
// something), from its middle on where there is room. Smallest first, no box twice, none of a single block.
[[nodiscard]] std::vector<BlockBox> boxes_of_blocks(const std::vector<ThreadBox>& requested,
                                                    const BlockBox& within, const trimtab_dim3& block);

}  // namespace trimtab::emulator
