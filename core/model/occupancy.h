// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Theoretical occupancy: how many blocks of one kernel are resident on an SM, and what limits them.
#pragma once

#include <cstdint>
#include <string_view>

#include "trimtab/driver.h"

namespace trimtab::model {

enum class OccupancyLimiter : std::uint8_t { threads, blocks, registers, shared_memory, does_not_fit };
[[nodiscard]] std::string_view name(OccupancyLimiter limiter);

struct Occupancy {
    std::uint32_t blocks_per_sm = 0;  // 0: the block cannot be launched
    std::uint32_t warps_per_sm = 0;
    double fraction = 0;  // of the SM's warps
    OccupancyLimiter limiter = OccupancyLimiter::threads;
};

// CUDA's own rule (allocation granularities included), as cuda_occupancy.h states it for the architectures
// that it knows.
[[nodiscard]] Occupancy occupancy(const trimtab_device& device, const trimtab_image& image,
                                  std::uint32_t threads_per_block, double dynamic_shared_bytes);

// The image as a compiler for the device would make it: what its instructions cannot address it keeps in local memory.
[[nodiscard]] trimtab_image with_addressable_registers(trimtab_image image, const trimtab_device& device);

}  // namespace trimtab::model
