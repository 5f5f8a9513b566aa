// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lane of its warp a lane reads from in shfl.sync.
#pragma once

#include <cstdint>

#include "core/ptx/types.h"

namespace trimtab::ptx {

struct ShuffleSource {
    std::uint32_t lane = 0;  // its own where the one that it asks for is not in range
    bool is_in_range = false;
};

// PTX ISA, "shfl.sync". `b` is by how much, or which lane; `c` has the mask of the segments, into which the warp is
// cut, in bits 12 to 8, and what the segment's lanes are clamped to in bits 4 to 0.
[[nodiscard]] constexpr ShuffleSource shuffle_source(ShuffleMode mode, std::uint32_t lane, std::uint32_t b,
                                                     std::uint32_t c) {
    const std::uint32_t by = b & 31, clamp = c & 31, segment = c >> 8 & 31;
    const std::uint32_t lowest = lane & segment;
    const auto limit = static_cast<std::int32_t>(lowest | (clamp & ~segment));
    std::int32_t from = 0;
    switch (mode) {
        case ShuffleMode::up:
            from = static_cast<std::int32_t>(lane) - static_cast<std::int32_t>(by);
            break;
        case ShuffleMode::down:
            from = static_cast<std::int32_t>(lane + by);
            break;
        case ShuffleMode::bfly:
            from = static_cast<std::int32_t>(lane ^ by);
            break;
        default:
            from = static_cast<std::int32_t>(lowest | (by & ~segment));
            break;
    }
    const bool is_in_range = mode == ShuffleMode::up ? from >= limit : from <= limit;
    return {is_in_range ? static_cast<std::uint32_t>(from) & 31 : lane, is_in_range};
}

}  // namespace trimtab::ptx
