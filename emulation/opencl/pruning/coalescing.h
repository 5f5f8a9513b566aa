// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one access of a warp touches (section 4.2.3).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulation/opencl/pruning/warp_values.h"

namespace trimtab::pruning {

// Sectors of one line of 128 bytes: bit i is bytes [32 i, 32 i + 32).
struct TouchedLine {
    std::uint64_t line = 0;  // address / 128
    std::uint32_t sectors = 0;

    friend bool operator==(const TouchedLine&, const TouchedLine&) = default;
};

// Appends each line that the lanes of `mask` touch, once. `address`: a sum, lanes, or an offset, whose base is then taken to be
// the start of a line.
void touched_lines(const WarpOperand& address, std::uint32_t bytes, std::uint32_t mask,
                   const WarpLanes& lanes, std::vector<TouchedLine>& out);

// Appends the lines that all items of a group touch, whose address is this sum; lines may be there twice.
void lines_of_group(const WarpValue& address, std::uint32_t bytes, const std::array<std::uint32_t, 3>& group,
                    std::vector<TouchedLine>& out);

// Passes through local memory's 32 banks of 4 bytes: the most words that one bank has to give.
[[nodiscard]] std::uint32_t local_passes(const WarpOperand& address, std::uint32_t bytes, std::uint32_t mask,
                                         const WarpLanes& lanes);

}  // namespace trimtab::pruning
