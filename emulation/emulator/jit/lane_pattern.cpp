// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/lane_pattern.h"

#include <algorithm>

namespace trimtab::emulator::jit {

LanePatterns lane_patterns(const trimtab_dim3& block) {
    LanePatterns made;
    const std::uint32_t threads = block.x * block.y * block.z;
    const auto index_of = [&block](std::uint32_t thread, unsigned dimension) {
        if (dimension == 0) return thread % block.x;
        return dimension == 1 ? thread / block.x % block.y : thread / block.x / block.y;
    };
    for (unsigned dimension = 0; dimension < 3; dimension++) {
        LanePattern& pattern = made.tid[dimension];
        pattern.known = true;
        // What lies past the block's end is in no lane: the first warp's pattern goes on there as well.
        for (std::uint32_t lane = 0; lane < warp_lanes; lane++)
            pattern.offset[lane] = index_of(std::min(lane, threads - 1), dimension) - index_of(0, dimension);
        if (threads < warp_lanes && dimension == 0 && block.x == threads) {
            for (std::uint32_t lane = threads; lane < warp_lanes; lane++) pattern.offset[lane] = lane;
        }
        for (std::uint32_t thread = warp_lanes; thread < threads && pattern.known; thread++) {
            const std::uint32_t lane = thread % warp_lanes;
            pattern.known =
                index_of(thread, dimension) - index_of(thread - lane, dimension) == pattern.offset[lane];
        }
        if (!pattern.known) pattern.offset = {};
    }
    return made;
}

}  // namespace trimtab::emulator::jit
