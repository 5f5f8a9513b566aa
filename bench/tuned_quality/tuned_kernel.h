// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands behind a table of timed configurations whose parameters are compile-time constants:
//
//     {"source": "../kernels/convolution_tiled.cu", "kernel": "convolution_tiled", "time_ms": "time_ms",
//      "columns": ["block_size_x", "block_size_y", "tile_size_x"],
//      "slice": ["tile_size_x"],
//      "defines": {"BLOCK_X": "block_size_x", "BLOCK_Y": "block_size_y", "TILE_X": "tile_size_x"},
//      "grid": ["ceil_div(4096, block_size_x * tile_size_x)", "ceil_div(4096, block_size_y)"],
//      "block": ["block_size_x", "block_size_y"], "arguments": {"n": "4096"}}
//
// "columns" are those of the table that tell configurations apart, "slice" those that are alike within a slice;
// the rest are expressions of columns. "flags" (left out: none) are further flags of the compiler. The source's
// path is relative to the file.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "bench/tuned_quality/expression.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::bench {

struct TunedKernel {
    std::string path;    // of the description
    std::string source;  // absolute
    std::string kernel, time_column;
    std::vector<std::string> columns, slice, grid, block, flags;
    std::vector<std::pair<std::string, std::string>> defines, arguments;
};

[[nodiscard]] std::expected<TunedKernel, Error> read_tuned_kernel(const std::string& path);

// One configuration: values of TunedKernel::columns.
using Values = std::vector<std::int64_t>;

struct ConfiguredLaunch {
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::vector<std::string> defines, arguments;  // "-DBLOCK_X=32", "n=4096"
};
[[nodiscard]] std::expected<ConfiguredLaunch, Error> configured_launch(const TunedKernel& kernel,
                                                                       const Values& values);

}  // namespace trimtab::bench
