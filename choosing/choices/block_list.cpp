// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/block_list.h"

#include "core/analysis/launches/legal_blocks.h"

namespace trimtab::choosing {

std::vector<trimtab_dim3> legal_block_list(const trimtab_limits& limits) {
    std::vector<trimtab_dim3> blocks;
    const std::uint32_t most = limits.max_threads;
    for (std::uint32_t z = 1; z <= limits.max_block.z && z <= most; ++z) {
        for (std::uint32_t y = 1; y <= limits.max_block.y && y * z <= most; ++y) {
            for (std::uint32_t x = 1; x <= limits.max_block.x && x * y * z <= most; ++x) {
                const trimtab_dim3 block{.x = x, .y = y, .z = z};
                if (analysis::is_legal(limits, block)) blocks.push_back(block);
            }
        }
    }
    return blocks;
}

}  // namespace trimtab::choosing
