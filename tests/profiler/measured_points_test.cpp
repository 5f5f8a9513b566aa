// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is measured where a kernel's budget does not go as far as its plan.
#include "profiler/measured_points.h"

#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <set>

namespace trimtab::profiler {
namespace {

// Ten sizes with eight blocks each.
std::vector<PlannedPoint> plan() {
    std::vector<PlannedPoint> points;
    for (int size = 1; size <= 10; ++size)
        for (std::uint32_t block = 1; block <= 8; ++block) {
            PlannedPoint point;
            point.data = {double(size), double(size)};
            point.block = {32 * block, 1, 1};
            points.push_back(point);
        }
    return points;
}

// `cost`: warp instructions of a point.
struct Kernel {
    explicit Kernel(std::function<std::uint64_t(const PlannedPoint&)> of_a_point)
        : cost(std::move(of_a_point)) {}
    std::function<std::uint64_t(const PlannedPoint&)> cost;
    std::uint64_t limit = 1000;
    std::uint64_t run = 0;
    std::vector<ProfilePoint> measured;
    std::uint32_t left_out = 0;
    MeasureError error;

    void measure(const std::vector<PlannedPoint>& points, std::uint64_t budget) {
        const auto found = measure_points(
            points,
            {.warp_instructions = budget, .of_a_point = limit, .warps = std::vector(points.size(), 8.0)},
            [&](const PlannedPoint& point) -> std::expected<MeasuredPoint, MeasureError> {
                run += std::min(cost(point), limit);
                if (cost(point) == 0) return std::unexpected(MeasureError{.message = "broken"});
                if (cost(point) > limit) return std::unexpected(MeasureError{.limit = true, .message = {}});
                ProfilePoint one;
                one.data = point.data;
                one.box = {double(point.block.x), 1, 1};
                return MeasuredPoint{.points = {one}, .warp_instructions = cost(point)};
            },
            {});
        if (found)
            measured = found->points, left_out = found->left_out;
        else
            error = found.error();
    }
};

TEST(MeasuredPoints, AllOfAFastKernelInThePlansOrder) {
    const std::vector<PlannedPoint> points = plan();
    Kernel kernel([](const auto&) { return std::uint64_t{10}; });
    kernel.measure(points, 1000);
    ASSERT_EQ(kernel.measured.size(), points.size());
    EXPECT_EQ(kernel.left_out, 0u);
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(kernel.measured[i].data, points[i].data);
        EXPECT_EQ(kernel.measured[i].box[0], points[i].block.x);
    }
}

TEST(MeasuredPoints, ASlowKernelHasFewerBlocksAtEverySize) {
    Kernel kernel([](const PlannedPoint& point) { return 10 * std::uint64_t(point.data[0]); });
    kernel.measure(plan(), 1500);  // all: 4400
    EXPECT_LE(kernel.run, 1600u);
    EXPECT_EQ(kernel.measured.size() + kernel.left_out, 80u);
    std::map<double, int> of_size;
    std::set<double> blocks;
    for (const ProfilePoint& point : kernel.measured) ++of_size[point.data[0]], blocks.insert(point.box[0]);
    ASSERT_EQ(of_size.size(), 10u);
    for (const auto& [size, count] : of_size)
        EXPECT_THAT(count, ::testing::AllOf(::testing::Ge(2), ::testing::Le(3)));
    EXPECT_EQ(blocks.size(), 8u);
}

TEST(MeasuredPoints, WhatIsStoppedOnceIsNotRunAgainAtLargerSizes) {
    Kernel kernel([](const PlannedPoint& point) { return point.data[0] > 6 ? 5000 : 100; });
    kernel.measure(plan(), 1'000'000);
    EXPECT_EQ(kernel.measured.size(), 48u);
    EXPECT_EQ(kernel.left_out, 32u);
    EXPECT_EQ(kernel.run, 48u * 100 + 1000);
}

TEST(MeasuredPoints, SomeAreMeasuredInAnyCaseAndOtherTroubleEndsIt) {
    Kernel kernel([](const auto&) { return 900; });
    kernel.measure(plan(), 1);
    EXPECT_EQ(kernel.measured.size(), 16u);
    kernel.cost = [](const PlannedPoint& point) { return point.data[0] == 7 ? 0 : 10; };
    kernel.measure(plan(), 1000);
    EXPECT_EQ(kernel.error.message, "broken");
}

}  // namespace
}  // namespace trimtab::profiler
