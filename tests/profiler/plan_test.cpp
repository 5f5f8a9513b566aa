// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/plan.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "made_up_kernels.h"

namespace trimtab::profiler {
namespace {

using namespace testing;
using ::testing::ElementsAre;

TEST(Plan, TiesExtentsToTheGuardsAndKeepsTheLargestBack) {
    const KernelDescription kernel = gemm();
    const Planner planner(kernel, {});
    EXPECT_THAT(planner.roles(),
                ElementsAre(Role::bound, Role::bound, Role::size, Role::extent, Role::extent));
    const auto points = planner.points();
    EXPECT_GT(points.size(), 60u);
    EXPECT_LT(points.size(), 160u);
    std::size_t held_out = 0;
    std::map<std::vector<double>, int> data;
    std::set<std::array<std::uint32_t, 2>> blocks;
    for (const PlannedPoint& point : points) {
        EXPECT_EQ(point.extent.x, point.data[1]);
        EXPECT_EQ(point.extent.y, point.data[0]);
        EXPECT_EQ(point.data[3], point.data[1]);
        for (const double size : {point.data[0], point.data[1]}) {
            EXPECT_GE(size, 64);
            EXPECT_LE(size, 256);
            if (size >= 250) EXPECT_TRUE(point.held_out);
        }
        EXPECT_LE(point.block.x * point.block.y, 1024u);
        EXPECT_EQ(point.block.z, 1u);
        held_out += point.held_out ? 1 : 0;
        ++data[point.data];
        blocks.insert({point.block.x, point.block.y});
    }
    EXPECT_GT(held_out, points.size() / 8);
    EXPECT_LT(held_out, points.size() / 2);
    EXPECT_GE(blocks.size(), 14u);
    // Each size goes its own way somewhere.
    for (const std::size_t k : {0, 1, 2})
        EXPECT_TRUE(std::ranges::any_of(data, [&](const auto& entry) {
            const auto& d = entry.first;
            return d[k] != d[(k + 1) % 3] && d[(k + 1) % 3] == d[(k + 2) % 3];
        }));
}

TEST(Plan, LevelsGrowAndSayWhy) {
    for (const bool aligned : {false, true}) {
        std::set<std::string_view> reasons;
        for (std::size_t level = 0; level < level_count; ++level) reasons.insert(why_level(level, aligned));
        EXPECT_EQ(reasons.size(), level_count);
        for (std::uint32_t least = 8; least <= 512; least += least < 64 ? 1 : 32)
            for (const std::uint32_t most : {least, least + 1, least + 9, 2 * least, 4 * least, 4096u}) {
                const PlanOptions options{.least = least, .most = most};
                double before = 0;
                for (std::size_t level = 0; level < level_count; ++level) {
                    const double size = level_size(options, level, aligned);
                    EXPECT_GE(size, before) << least << ":" << most << " " << level;
                    before = size;
                }
            }
    }
    // As their reasons say.
    const auto at = [](std::size_t level) { return level_size({}, level, false); };
    EXPECT_EQ(at(least_level), 64);
    EXPECT_EQ(std::fmod(at(quarter_level), 32), 0);
    EXPECT_EQ(std::fmod(at(four_level), 8), 4);
    EXPECT_EQ(std::fmod(at(middle_level), 32), 0);
    EXPECT_EQ(std::fmod(at(two_level), 4), 2);
    EXPECT_EQ(std::fmod(at(odd_level), 2), 1);
    EXPECT_EQ(at(first_held_out_level), 250);
    EXPECT_EQ(at(most_level), 256);
}

TEST(Plan, IsTheSameEveryTime) {
    const KernelDescription kernel = gemm();
    const auto once = Planner(kernel, {}).points(), again = Planner(kernel, {}).points();
    ASSERT_EQ(once.size(), again.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
        EXPECT_EQ(once[i].data, again[i].data);
        EXPECT_EQ(once[i].block.x, again[i].block.x);
        EXPECT_EQ(once[i].held_out, again[i].held_out);
    }
    EXPECT_NE(once.size(), 0u);
}

TEST(Plan, SizesCanBeAskedForAndHalved) {
    const KernelDescription kernel = gemm();
    Planner planner(kernel, {.least = 32, .most = 64});
    for (const PlannedPoint& point : planner.points()) {
        EXPECT_GE(point.data[0], 32);
        EXPECT_LE(point.data[0], 64);
    }
    EXPECT_TRUE(planner.halve_sizes());
    EXPECT_EQ(planner.data_at(0)[0], 16);
    EXPECT_FALSE(planner.halve_sizes());
    // One size alone is a plan too.
    EXPECT_FALSE(Planner(kernel, {.least = 128, .most = 128}).points().empty());
}

TEST(Plan, BlocksThatMustDivideDo) {
    KernelDescription kernel = KernelBuilder("open", {true, true, false}).pointer("p", "float").build();
    kernel.verdict = analysis::Verdict::dividing;
    const auto points = Planner(kernel, {}).points();
    EXPECT_GT(points.size(), 30u);
    std::set<std::uint32_t> extents;
    for (const PlannedPoint& point : points) {
        EXPECT_EQ(point.extent.x % point.block.x, 0u);
        EXPECT_EQ(point.extent.y % point.block.y, 0u);
        extents.insert(point.extent.x);
    }
    EXPECT_GE(extents.size(), 4u);  // without guards the extents are the sizes
}

TEST(Plan, OneDimensionGetsMoreThreadsAndALaunchBoundIsKept) {
    KernelDescription kernel = KernelBuilder("axpy", {true, false, false})
                                   .pointer("p", "float")
                                   .integer("n")
                                   .guard(Dimension::x, argument(1))
                                   .build();
    kernel.images[0].max_threads = 256;
    std::set<std::uint32_t> blocks;
    for (const PlannedPoint& point : Planner(kernel, {}).points()) {
        EXPECT_GE(point.extent.x, 256u);
        EXPECT_LE(point.block.x, 256u);
        blocks.insert(point.block.x);
    }
    EXPECT_GE(blocks.size(), 5u);
}

TEST(Plan, OffsetsStayPutAndFlagsAreOne) {
    const KernelDescription kernel = KernelBuilder("step", {true, false, false})
                                         .integer("n")
                                         .integer("t", false)
                                         .scalar("alpha", "f32", 4)
                                         .scalar("transposed", "u8", 1)
                                         .guard(Dimension::x, argument(0))
                                         .build();
    Planner planner(kernel, {});
    EXPECT_THAT(planner.roles(),
                ElementsAre(Role::bound, Role::offset, Role::fixed, Role::fixed, Role::extent));
    for (const PlannedPoint& point : planner.points()) {
        EXPECT_EQ(point.data[1], 0);
        EXPECT_EQ(point.data[2], 1);
        EXPECT_EQ(point.data[3], 1);
    }
}

TEST(Plan, APitchIsAtLeastAsLargeAsTheSizes) {
    const KernelDescription kernel = KernelBuilder("copy", {true, true, false})
                                         .integer("w")
                                         .integer("h")
                                         .integer("ld")
                                         .guard(Dimension::x, argument(0))
                                         .guard(Dimension::y, argument(1))
                                         .build();
    Planner planner(kernel, {});
    planner.set_role(2, Role::pitch);
    for (const PlannedPoint& point : planner.points())
        EXPECT_GE(point.data[2], std::max(point.data[0], point.data[1]));
}

// Levels count threads: few of them where a size is asked for by many, or by more than it grows.
TEST(Plan, ExtentsBeginSmallWhateverTheGuardMakesOfASize) {
    const auto extents = [](const Expression& limit) {
        const KernelDescription kernel =
            KernelBuilder("product", {true, false, false}).integer("n").guard(Dimension::x, limit).build();
        std::pair<double, double> ends{1e30, 0}, sizes{1e30, 0};
        for (const PlannedPoint& point : Planner(kernel, {}).points()) {
            ends = {std::min(ends.first, point.data[1]), std::max(ends.second, point.data[1])};
            sizes = {std::min(sizes.first, point.data[0]), std::max(sizes.second, point.data[0])};
        }
        return std::array<double, 4>{ends.first, ends.second, sizes.first, sizes.second};
    };
    const Expression n = argument(0);
    EXPECT_THAT(extents(n), ElementsAre(256, 1024, 256, 1024));
    EXPECT_THAT(extents(operation("mul.lo.s32", {n, constant(2)})), ElementsAre(256, 1024, 128, 512));
    EXPECT_THAT(extents(operation("mul.lo.s32", {n, constant(32)})), ElementsAre(2048, 8192, 64, 256));
    // A thread for each pair; eight.
    const Expression square = operation("mul.lo.s32", {n, n});
    EXPECT_THAT(extents(square), ElementsAre(256, 65536, 16, 256));
    EXPECT_THAT(extents(operation("mul.lo.s32", {square, constant(8)})), ElementsAre(2048, 524288, 16, 256));
}

TEST(Plan, AGridStrideLoopHasMoreWorkThanThreads) {
    KernelDescription kernel =
        KernelBuilder("stride", {true, false, false}).integer("n").guard(Dimension::x, argument(0)).build();
    kernel.dimensions[0].index = analysis::Index::of_total;
    std::set<double> ratios;
    for (const PlannedPoint& point : Planner(kernel, {}).points()) {
        EXPECT_EQ(point.extent.x % point.block.x, 0u);
        ratios.insert(point.data[0] / point.data[1]);
    }
    EXPECT_GE(ratios.size(), 4u);
    EXPECT_GT(*ratios.rbegin(), 4);
}

}  // namespace
}  // namespace trimtab::profiler
