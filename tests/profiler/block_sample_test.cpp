// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/block_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace trimtab::profiler {
namespace {

double total_weight(const std::vector<BlockClass>& classes) {
    double sum = 0;
    for (const BlockClass& one : classes) sum += one.weight * static_cast<double>(one.blocks.size());
    return sum;
}

TEST(BlockSample, StandsForEveryBlock) {
    for (std::uint64_t width : {1, 2, 3, 4, 5, 7, 40, 333})
        for (double wanted : {1.0, 9.0, 25.0, 64.0}) {
            const std::array<BlockRange, 3> ranges{{{2, 2 + width}, {0, 11}, {0, 1}}};
            const trimtab_dim3 grid{static_cast<std::uint32_t>(width) + 5, 12, 1};
            const auto classes = sample_blocks(ranges, grid, wanted, 7);
            EXPECT_NEAR(total_weight(classes), static_cast<double>(width * 11), 1e-9);
            for (const BlockClass& one : classes)
                for (const std::uint64_t block : one.blocks) {
                    EXPECT_GE(block % grid.x, 2u);
                    EXPECT_LT(block % grid.x, 2 + width);
                    EXPECT_LT(block / grid.x, 11u);
                }
        }
}

TEST(BlockSample, AveragesWhatGrowsEvenlyExactly) {
    const std::array<BlockRange, 3> ranges{{{0, 101}, {0, 1}, {0, 1}}};
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        double sum = 0;
        for (const BlockClass& one : sample_blocks(ranges, {101, 1, 1}, 12, seed))
            for (const std::uint64_t block : one.blocks) sum += one.weight * static_cast<double>(block);
        EXPECT_NEAR(sum, 101 * 50.0, 1e-9);
    }
}

TEST(BlockSample, MeetsManyRows) {
    const std::array<BlockRange, 3> ranges{{{0, 64}, {0, 256}, {0, 1}}};
    std::set<std::uint64_t> rows, columns;
    std::size_t blocks = 0;
    for (const BlockClass& one : sample_blocks(ranges, {64, 256, 1}, 40, 5))
        for (const std::uint64_t block : one.blocks) {
            rows.insert(block / 64);
            columns.insert(block % 64);
            ++blocks;
        }
    EXPECT_LE(blocks, 48u);
    EXPECT_GE(rows.size(), 25u);
    EXPECT_GE(columns.size(), 25u);
}

TEST(BlockSample, IsTheSameEverywhereAndOtherForOtherSeeds) {
    const std::array<BlockRange, 3> ranges{{{0, 1000}, {0, 1}, {0, 1}}};
    const auto first = sample_blocks(ranges, {1000, 1, 1}, 6, 1);
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(first[0].blocks, (std::vector<std::uint64_t>{0, 999}));
    EXPECT_EQ(first[1].blocks.size(), 6u);
    const auto again = sample_blocks(ranges, {1000, 1, 1}, 6, 1),
               other = sample_blocks(ranges, {1000, 1, 1}, 6, 2);
    EXPECT_EQ(first[1].blocks, again[1].blocks);
    EXPECT_NE(first[1].blocks, other[1].blocks);
}

TEST(BoxSample, TilesWithoutOverlap) {
    const std::array<BlockRange, 3> ranges{{{1, 10}, {0, 6}, {0, 1}}};
    const BoxOfBlocks box = sample_boxes(ranges, {12, 6, 1}, {4, 2, 1}, 4, 3);
    ASSERT_EQ(box.groups.size(), 4u);
    std::set<std::uint64_t> all;
    for (const auto& group : box.groups) {
        EXPECT_EQ(group.size(), 8u);
        for (const std::uint64_t block : group) {
            EXPECT_TRUE(all.insert(block).second);
            EXPECT_GE(block % 12, 1u);
            EXPECT_LT(block % 12, 9u);
        }
    }
    EXPECT_EQ(sample_boxes(ranges, {12, 6, 1}, {9, 6, 1}, 4, 3).groups.size(), 1u);
}

}  // namespace
}  // namespace trimtab::profiler
