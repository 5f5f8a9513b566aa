// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/metrics/footprint_boxes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trimtab::emulator {
namespace {

using Counts = std::array<std::uint64_t, 3>;

std::array<double, 3> extents(const trimtab_dim3& size) {
    return {double(size.x), double(size.y), double(size.z)};
}

std::uint64_t index_of(const Counts& at, const trimtab_dim3& grid) {
    return at[0] + grid.x * (at[1] + grid.y * at[2]);
}

}  // namespace

std::vector<std::uint64_t> BlockBox::indices(const trimtab_dim3& grid) const {
    std::vector<std::uint64_t> out;
    out.reserve(blocks());
    for (std::uint64_t z = 0; z < count[2]; ++z)
        for (std::uint64_t y = 0; y < count[1]; ++y)
            for (std::uint64_t x = 0; x < count[0]; ++x)
                out.push_back(index_of({first[0] + x, first[1] + y, first[2] + z}, grid));
    return out;
}

std::uint64_t BlockBox::first_index(const trimtab_dim3& grid) const {
    return index_of(first, grid);
}

std::uint64_t BlockBox::last_index(const trimtab_dim3& grid) const {
    return index_of({first[0] + count[0] - 1, first[1] + count[1] - 1, first[2] + count[2] - 1}, grid);
}

ThreadBox BlockBox::threads(const trimtab_dim3& block) const {
    ThreadBox out = extents(block);
    for (std::size_t d = 0; d < 3; ++d) out[d] *= static_cast<double>(count[d]);
    return out;
}

std::vector<ThreadBox> requested_boxes(const model::RationalProgram& program, std::span<const double> inputs,
                                       const model::MetricValues& values) {
    std::vector<ThreadBox> boxes;
    (void)program.evaluate(inputs, [&](model::Metric metric, double x, double y, double z) {
        const ThreadBox box{x, y, z};
        if (metric != model::Metric::footprint_sectors) return values[static_cast<std::size_t>(metric)];
        const bool is_box = std::ranges::all_of(box, [](double e) { return std::isfinite(e) && e > 0; });
        if (is_box && std::ranges::find(boxes, box) == boxes.end()) boxes.push_back(box);
        return x * y * z;  // any size: a box does not depend on what another one touches
    });
    return boxes;
}

model::MetricValues everything_active(const trimtab_dim3& grid, const trimtab_dim3& block) {
    model::MetricValues values;
    values.fill(1);
    const auto blocks = extents(grid), threads = extents(block);
    values[static_cast<std::size_t>(model::Metric::active_blocks)] = blocks[0] * blocks[1] * blocks[2];
    values[static_cast<std::size_t>(model::Metric::active_warps)] =
        std::ceil(threads[0] * threads[1] * threads[2] / 32);
    return values;
}

std::vector<BlockBox> boxes_of_blocks(const std::vector<ThreadBox>& requested, const BlockBox& within,
                                      const trimtab_dim3& block) {
    std::vector<BlockBox> boxes;
    const auto add = [&](Counts count) {
        BlockBox box;
        for (std::size_t d = 0; d < 3; ++d) {
            box.count[d] = std::clamp<std::uint64_t>(count[d], 1, within.count[d]);
            box.first[d] = within.first[d] + std::min(within.count[d] / 2, within.count[d] - box.count[d]);
        }
        if (box.blocks() > 1 && std::ranges::find(boxes, box) == boxes.end()) boxes.push_back(box);
    };
    const auto size = extents(block);
    for (const ThreadBox& box : requested) {
        std::array<Counts, 2> around{};
        for (std::size_t d = 0; d < 3; ++d) {
            const double blocks = std::min(box[d] / size[d], static_cast<double>(within.count[d]));
            around[0][d] = static_cast<std::uint64_t>(std::floor(blocks));
            around[1][d] = static_cast<std::uint64_t>(std::ceil(blocks));
        }
        for (unsigned which = 0; which < 8; ++which)
            add({around[which & 1][0], around[which >> 1 & 1][1], around[which >> 2 & 1][2]});
    }
    for (const Counts& pair : {Counts{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 2, 1}}) add(pair);
    std::ranges::sort(boxes, {}, [](const BlockBox& box) { return std::pair(box.blocks(), box.count); });
    return boxes;
}

}  // namespace trimtab::emulator
