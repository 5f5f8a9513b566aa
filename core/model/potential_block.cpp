// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/potential_block.h"

#include <algorithm>

#include "core/model/occupancy.h"

namespace trimtab::model {

std::uint32_t potential_block_threads(const trimtab_device& device, const trimtab_image& image,
                                      double dynamic_shared_bytes) {
    double limit = device.max_threads_per_block;
    if (image.max_threads_per_block > 0) limit = std::min(limit, image.max_threads_per_block);
    const auto most = static_cast<std::uint32_t>(limit), warp = static_cast<std::uint32_t>(device.warp_size);
    std::uint32_t best = 0, best_resident = 0;
    for (std::uint32_t aligned = (most + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
        const std::uint32_t threads = std::min(most, aligned);
        const std::uint32_t resident =
            threads * occupancy(device, image, threads, dynamic_shared_bytes).blocks_per_sm;
        if (resident <= best_resident) continue;
        best = threads;
        best_resident = resident;
    }
    return best;
}

}  // namespace trimtab::model
