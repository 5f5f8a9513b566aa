// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel is launched: CUDA's execution configuration, without the stream.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "trimtab/driver.h"

namespace trimtab::model {

// Of the three dimensions.
inline constexpr std::string_view axis_names = "xyz";

[[nodiscard]] constexpr std::array<std::uint64_t, 3> components(const trimtab_dim3& value) {
    return {value.x, value.y, value.z};
}
[[nodiscard]] constexpr bool same(const trimtab_dim3& a, const trimtab_dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
// The elements of a grid of that size, if they are less than 2^64: every grid that CUDA launches has fewer.
[[nodiscard]] constexpr std::uint64_t volume(const trimtab_dim3& size) {
    return std::uint64_t{size.x} * size.y * size.z;
}

struct LaunchConfiguration {
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint64_t dynamic_shared_bytes = 0;

    [[nodiscard]] constexpr std::uint64_t blocks() const { return volume(grid); }
    [[nodiscard]] constexpr std::uint64_t threads_per_block() const { return volume(block); }
    [[nodiscard]] constexpr std::uint64_t threads() const { return blocks() * threads_per_block(); }
    // Threads in each dimension.
    [[nodiscard]] constexpr std::array<std::uint64_t, 3> extent() const {
        return {std::uint64_t{grid.x} * block.x, std::uint64_t{grid.y} * block.y,
                std::uint64_t{grid.z} * block.z};
    }

    friend constexpr bool operator==(const LaunchConfiguration& a, const LaunchConfiguration& b) {
        return same(a.grid, b.grid) && same(a.block, b.block) &&
               a.dynamic_shared_bytes == b.dynamic_shared_bytes;
    }
};

}  // namespace trimtab::model
