// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/block_sample.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace trimtab::profiler {

namespace {

// std::minstd_rand gives the same numbers everywhere; the distributions of <random> need not.
double uniform(std::minstd_rand& random) {
    return static_cast<double>(random() - std::minstd_rand::min()) /
           (static_cast<double>(std::minstd_rand::max()) - std::minstd_rand::min() + 1.0);
}

// A part of a dimension: its first block, its last, or those between.
struct Part {
    std::uint64_t first = 0, count = 1;
};

std::vector<Part> parts(const BlockRange& range) {
    const std::uint64_t count = range.end - range.first;
    if (count == 1) return {{range.first, 1}};
    std::vector<Part> out{{range.first, 1}, {range.end - 1, 1}};
    if (count > 2) out.push_back({range.first + 1, count - 2});
    return out;
}

using Combination = std::array<Part, 3>;
double size(const Combination& combination) {
    return static_cast<double>(combination[0].count) * static_cast<double>(combination[1].count) *
           static_cast<double>(combination[2].count);
}

void shuffle(std::vector<std::uint64_t>& values, std::minstd_rand& random) {
    for (std::size_t i = values.size(); i > 1; --i)
        std::swap(values[i - 1], values[static_cast<std::size_t>(uniform(random) * static_cast<double>(i))]);
}

// `count` blocks (even, or 1) of a combination.
std::vector<std::array<std::uint64_t, 3>> spread(const Combination& combination, std::uint64_t count,
                                                 std::minstd_rand& random) {
    const std::uint64_t pairs = std::max<std::uint64_t>(1, count / 2);
    std::vector<std::array<std::uint64_t, 3>> out(2 * pairs);
    for (std::size_t d = 0; d < 3; ++d) {
        const Part& part = combination[d];
        // One of each pair lies in the lower half, in a stretch of its own.
        std::vector<std::uint64_t> stretches(pairs);
        for (std::uint64_t p = 0; p < pairs; ++p) stretches[p] = p;
        if (d > 0) shuffle(stretches, random);
        for (std::uint64_t p = 0; p < pairs; ++p) {
            const double share =
                (static_cast<double>(stretches[p]) + uniform(random)) / static_cast<double>(2 * pairs);
            auto at = static_cast<std::uint64_t>(share * static_cast<double>(part.count));
            if (d > 0 && uniform(random) < 0.5) at = part.count - 1 - at;
            out[2 * p][d] = part.first + at;
            out[2 * p + 1][d] = part.first + part.count - 1 - at;
        }
    }
    if (count == 1) out.resize(1);
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
    std::vector<Combination> combinations;
    double roots = 0, all = 1;
    for (const Part& z : parts(ranges[2]))
        for (const Part& y : parts(ranges[1]))
            for (const Part& x : parts(ranges[0])) {
                combinations.push_back({x, y, z});
                roots += std::sqrt(size(combinations.back()));
            }
    for (const BlockRange& range : ranges) all *= static_cast<double>(range.end - range.first);

    std::vector<BlockClass> classes;
    const auto add = [&](double weight, std::uint64_t block) {
        auto same = std::ranges::find(classes, weight, &BlockClass::weight);
        if (same == classes.end()) {
            classes.push_back({.weight = weight, .blocks = {}});
            same = classes.end() - 1;
        }
        same->blocks.push_back(block);
    };
    for (const Combination& combination : combinations) {
        const double blocks = size(combination);
        const double share = all <= wanted ? blocks : wanted * std::sqrt(blocks) / roots;
        if (share >= blocks || blocks <= 2) {
            for (std::uint64_t k = 0; k < combination[2].count; ++k)
                for (std::uint64_t j = 0; j < combination[1].count; ++j)
                    for (std::uint64_t i = 0; i < combination[0].count; ++i)
                        add(1, linear(grid, combination[0].first + i, combination[1].first + j,
                                      combination[2].first + k));
            continue;
        }
        const auto count = share < 1.5 ? 1 : 2 * static_cast<std::uint64_t>(std::lround(share / 2));
        for (const auto& at : spread(combination, count, random))
            add(blocks / static_cast<double>(count), linear(grid, at[0], at[1], at[2]));
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
