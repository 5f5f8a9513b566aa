// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates of a few sizes stand for others, and the order is that of all.
#include "emulation/opencl/pruning/estimate_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trimtab::pruning {
namespace {

// A launch of 10 000 items; as many groups at once as 64 warps are.
std::vector<SizeToEstimate> sizes() {
    std::vector<SizeToEstimate> out;
    for (std::uint32_t x = 1; x <= 1024; ++x) {
        const std::uint32_t warps = (x + 31) / 32, groups = 64 / warps;
        out.push_back({.index = x - 1,
                       .size = {x, 1, 1},
                       .groups_at_once = groups,
                       .warps_at_once = groups * warps,
                       .rounds = std::ceil(10'000.0 / x) / groups});
    }
    return out;
}

// Sectors that a round touches; from 8 KiB on each costs thrice as much.
double round_of(std::uint32_t x) {
    const double sectors = 64.0 / ((x + 31) / 32) * ((4.0 * x + 31) / 32);
    return sectors * (sectors > 256 ? 3 : 1);
}

TEST(EstimateQueue, GivesAllInTheOrderOfTheirOwnEstimates) {
    const auto all = sizes();
    std::size_t made = 0;
    EstimateQueue queue(all, [&](std::size_t i) {
        ++made;
        return round_of(all[i].size.x);
    });
    EXPECT_LE(made, all.size() / 3);
    std::vector<double> expected, found;
    for (const SizeToEstimate& one : all) expected.push_back(round_of(one.size.x) * one.rounds);
    std::ranges::sort(expected);
    constexpr double most = std::numeric_limits<double>::infinity();
    while (const auto first = queue.first_between(0, most)) {
        found.push_back(queue.estimate(*first));
        queue.take(*first);
        if (found.size() == 20) EXPECT_LE(made, all.size() / 2);
    }
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(made, all.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_DOUBLE_EQ(found[i], expected[i]) << i;
}

TEST(EstimateQueue, FindsNoneOutsideOfWhatIsAsked) {
    const auto all = sizes();
    EstimateQueue queue(all, [&](std::size_t i) { return round_of(all[i].size.x); });
    const double least = queue.estimate(queue.first_between(0, 1e9).value());
    EXPECT_FALSE(queue.first_between(0, least / 2));
    EXPECT_GE(queue.estimate(queue.first_between(1.5 * least, 2 * least).value()), 1.5 * least);
    EXPECT_EQ(queue.size(), all.size());
}

}  // namespace
}  // namespace trimtab::pruning
