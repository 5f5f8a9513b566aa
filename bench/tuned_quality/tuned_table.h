// A table of timed configurations of bench/kernels/convolution_tiled.cu: block_size_x, block_size_y,
// tile_size_x, tile_size_y, read_only, use_padding, time_ms.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::bench {

struct Configuration {
    std::uint32_t block_x = 1, block_y = 1, tile_x = 1, tile_y = 1, read_only = 0, use_padding = 0;
    double ms = 0;  // measured
};

// Configurations that differ in their block alone.
struct Slice {
    std::uint32_t tile_x = 1, tile_y = 1, read_only = 0, use_padding = 0;
    std::vector<Configuration> configurations;
};

// In order of tile, read_only and use_padding.
[[nodiscard]] std::expected<std::vector<Slice>, Error> read_tuned_table(const std::string& path);

}  // namespace trimtab::bench
