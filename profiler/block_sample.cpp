#include "profiler/block_sample.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace trimtab::profiler {

namespace {

struct Place {
    std::uint64_t at = 0;
    double weight = 1;
};

// std::minstd_rand gives the same numbers everywhere; the distributions of <random> need not.
double uniform(std::minstd_rand& random) {
    return static_cast<double>(random() - std::minstd_rand::min()) /
           (static_cast<double>(std::minstd_rand::max()) - std::minstd_rand::min() + 1.0);
}

std::vector<Place> places(const BlockRange& range, std::uint64_t wanted, std::minstd_rand& random) {
    const std::uint64_t count = range.end - range.first;
    std::vector<Place> out;
    wanted = std::max<std::uint64_t>(wanted, 3);
    if (count <= wanted) {
        for (std::uint64_t at = range.first; at < range.end; ++at) out.push_back({at, 1});
        return out;
    }
    const std::uint64_t pairs = (wanted - 2) / 2;
    const double span =
        static_cast<double>(count - 2) / static_cast<double>(std::max<std::uint64_t>(1, 2 * pairs));
    if (pairs == 0)
        out.push_back({range.first + 1 + static_cast<std::uint64_t>(uniform(random) * span), span});
    out.push_back({range.first, 1});
    for (std::uint64_t n = 0; n < pairs; ++n) {
        const auto at = static_cast<std::uint64_t>(1 + (static_cast<double>(n) + uniform(random)) * span);
        out.push_back({range.first + at, span});
        out.push_back({range.end - 1 - at, span});
    }
    out.push_back({range.end - 1, 1});
    return out;
}

std::uint64_t linear(const trimtab_dim3& grid, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return x + grid.x * (y + grid.y * z);
}

}  // namespace

std::vector<BlockClass> sample_blocks(const std::array<BlockRange, 3>& ranges, const trimtab_dim3& grid,
                                      double wanted, std::uint32_t seed) {
    std::minstd_rand random(seed * 2654435761u + 1);
    random.discard(3);
    std::size_t long_dimensions = 0;
    for (const BlockRange& range : ranges) long_dimensions += range.end - range.first > 1 ? 1 : 0;
    const double each =
        std::pow(std::max(wanted, 1.0), 1.0 / static_cast<double>(std::max<std::size_t>(1, long_dimensions)));
    std::array<std::vector<Place>, 3> chosen;
    for (std::size_t d = 0; d < 3; ++d)
        chosen[d] = places(ranges[d], static_cast<std::uint64_t>(std::max(1.0, each)), random);
    std::vector<BlockClass> classes;
    for (const Place& z : chosen[2])
        for (const Place& y : chosen[1])
            for (const Place& x : chosen[0]) {
                const double weight = x.weight * y.weight * z.weight;
                auto same = std::ranges::find(classes, weight, &BlockClass::weight);
                if (same == classes.end()) {
                    classes.push_back({.weight = weight, .blocks = {}});
                    same = classes.end() - 1;
                }
                same->blocks.push_back(linear(grid, x.at, y.at, z.at));
            }
    for (BlockClass& one : classes) std::ranges::sort(one.blocks);
    return classes;
}

BoxOfBlocks sample_boxes(const std::array<BlockRange, 3>& ranges, const trimtab_dim3& grid,
                         const std::array<std::uint32_t, 3>& blocks, std::size_t most, std::uint32_t seed) {
    std::minstd_rand random(seed * 2246822519u + 1);
    random.discard(3);
    BoxOfBlocks out{.blocks = blocks, .groups = {}};
    std::array<std::uint64_t, 3> tiles{};
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        tiles[d] = (ranges[d].end - ranges[d].first) / blocks[d];
        count *= tiles[d];
    }
    std::vector<std::uint64_t> chosen;
    if (count <= most) {
        for (std::uint64_t n = 0; n < count; ++n) chosen.push_back(n);
    } else {
        while (chosen.size() < most) {
            const auto n = static_cast<std::uint64_t>(uniform(random) * static_cast<double>(count));
            if (std::ranges::find(chosen, n) == chosen.end()) chosen.push_back(n);
        }
    }
    for (const std::uint64_t n : chosen) {
        const std::array<std::uint64_t, 3> tile{n % tiles[0], n / tiles[0] % tiles[1],
                                                n / (tiles[0] * tiles[1])};
        std::vector<std::uint64_t>& group = out.groups.emplace_back();
        for (std::uint64_t k = 0; k < blocks[2]; ++k)
            for (std::uint64_t j = 0; j < blocks[1]; ++j)
                for (std::uint64_t i = 0; i < blocks[0]; ++i)
                    group.push_back(linear(grid, ranges[0].first + tile[0] * blocks[0] + i,
                                           ranges[1].first + tile[1] * blocks[1] + j,
                                           ranges[2].first + tile[2] * blocks[2] + k));
    }
    return out;
}

}  // namespace trimtab::profiler
