// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a fit is a function of: the data parameters, the box of threads, and exact integer functions of both
// (grids, warps, alignments), which are computed and never fitted.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/index_ranges.h"

namespace trimtab::driver_gen {

enum class VariableKind : std::uint8_t {
    data,   // D[data]
    box_x,  // threads of the box by dimension: of the block, for all metrics but footprint_sectors
    box_y,
    box_z,
    covered_x,  // mean indices inside the guards (IndexRanges) of a box that holds one, by dimension
    covered_y,
    covered_z,
    lanes_x,        // min(x, 32): lanes of a warp in one row
    warp_rows,      // mean rows (y, z) that a warp meets
    warp_planes,    // mean planes (z) that a warp meets
    warps,          // ceil(x y z / 32)
    boxes,          // boxes that hold an index inside the guards
    covered_warps,  // mean warps of such a box that hold a thread inside the guards
    covered_lanes,  // mean threads inside the guards of such a warp
    // Greatest common divisor of `unit`, D[data] + offset (where `data` is one) and
    alignment,       // x: rows of the box begin at multiples of it, in elements
    alignment_y,     // y: the same for an array whose neighbours lie along y
    alignment_rows,  // warp_rows: and for the rows that a warp meets of it
    remainder,       // D[data] mod `unit`: what an unrolled loop leaves over
    has_remainder,   // 1 where it is not 0
    halvings,  // floor(log2(x y z)): rounds of a loop in which a block's threads come together by halves
};

struct Variable {
    static constexpr std::uint32_t no_data = profiler::no_data;
    VariableKind kind = VariableKind::data;
    std::uint32_t data = no_data;  // index in D
    std::uint32_t unit = 0;        // alignments: elements of a 32-byte sector or a 128-byte line
    std::int32_t offset = 0;       // alignments: rows may be padded
    friend bool operator==(const Variable&, const Variable&) = default;
};

// "NK", "x", "warp_rows", "alignment(x, 8, NJ)".
[[nodiscard]] std::string name(const Variable& variable, std::span<const std::string> data_names);

using profiler::IndexRanges;
using profiler::LinearForm;

[[nodiscard]] double evaluate(const Variable& variable, const IndexRanges& ranges,
                              std::span<const double> data, double x, double y, double z);

}  // namespace trimtab::driver_gen
