// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/sampled_launch.h"

#include <algorithm>
#include <cmath>

#include "profiler/arguments.h"

namespace trimtab::profiler {

SampledLaunch::SampledLaunch(const analysis::KernelDescription& description, const IndexRanges& ranges,
                             std::span<const double> data, const trimtab_dim3& extents,
                             const trimtab_dim3& blocks, double warps, std::uint32_t dynamic_shared_bytes)
    : arguments_(make_arguments(description, data)) {
    const auto range = ranges.evaluate(data);
    const std::array<std::uint32_t, 3> extent{extents.x, extents.y, extents.z},
        block{blocks.x, blocks.y, blocks.z};
    std::array<std::uint32_t, 3> grid{};
    launch_.blocks = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        grid[d] = (extent[d] + block[d] - 1) / block[d];
        const auto first = static_cast<std::uint64_t>(std::max(0.0, range[2 * d]));
        const auto end = static_cast<std::uint64_t>(std::clamp(range[2 * d + 1], 0.0, double(extent[d])));
        active_[d].first = std::min<std::uint64_t>(first / block[d], grid[d] - 1);
        active_[d].end =
            std::clamp<std::uint64_t>((end + block[d] - 1) / block[d], active_[d].first + 1, grid[d]);
        launch_.blocks *= active_[d].end - active_[d].first;
        seed_ = seed_ * 31 + block[d] + extent[d] * 7;
    }
    launch_.kernel = description.name;
    launch_.grid = {grid[0], grid[1], grid[2]};
    launch_.block = blocks;
    launch_.dynamic_shared_bytes = dynamic_shared_bytes;
    launch_.arguments = &arguments_;
    const double block_warps = std::ceil(block[0] * block[1] * block[2] / 32.0);
    launch_.classes = sample_blocks(active_, launch_.grid, warps / block_warps, seed_);
}

void SampledLaunch::add_boxes(double affordable) {
    std::array<std::uint32_t, 3> all{};
    for (std::size_t d = 0; d < 3; ++d)
        all[d] = static_cast<std::uint32_t>(active_[d].end - active_[d].first);
    const std::array<std::array<std::uint32_t, 3>, 14> shapes{{{2, 1, 1},
                                                               {1, 2, 1},
                                                               {2, 2, 1},
                                                               {4, 1, 1},
                                                               {1, 4, 1},
                                                               {1, 1, 2},
                                                               {2, 2, 2},
                                                               {all[0], 1, 1},
                                                               {1, all[1], 1},
                                                               {all[0], 2, 1},
                                                               {all[0], all[1] / 2, 1},
                                                               {all[0], all[1], 1},
                                                               {all[0], all[1], 2},
                                                               {all[0], all[1], all[2]}}};
    std::vector<std::array<std::uint32_t, 3>> seen{{1, 1, 1}};
    double spent = 0;
    for (const auto& shape : shapes) {
        bool fits = std::ranges::find(seen, shape) == seen.end();
        double blocks = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            fits = fits && shape[d] >= 1 && shape[d] <= all[d];
            blocks *= shape[d];
        }
        if (!fits || blocks + spent > affordable) continue;
        seen.push_back(shape);
        const auto places = static_cast<std::size_t>(std::clamp(0.1 * affordable / blocks, 1.0, 4.0));
        launch_.boxes.push_back(sample_boxes(active_, launch_.grid, shape, places, seed_));
        spent += blocks * static_cast<double>(launch_.boxes.back().groups.size());
    }
}

}  // namespace trimtab::profiler
