// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiling against a backend whose counts are known.
#include "profiler/profile_kernel.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <set>

#include "made_up_kernels.h"

namespace trimtab::profiler {
namespace {

using namespace testing;
using model::Metric;
using ::testing::HasSubstr;

// Work as a function of the integers in the argument buffer.
class FakeBackend : public Backend {
  public:
    std::function<double(const std::vector<std::int32_t>&)> instructions;  // a warp
    std::function<double(const std::vector<std::int32_t>&)> sectors = [](const auto&) { return 4.0; };
    double seed_changes = 0;
    std::function<bool(const std::vector<std::int32_t>&)> works = [](const auto&) { return true; };
    std::function<MeasureError(const std::vector<std::int32_t>&)> faults = [](const auto&) {
        return MeasureError{};
    };
    std::string fault;
    int launches = 0;
    std::vector<MeasuredLaunch> seen;

    [[nodiscard]] std::string_view name() const override { return "fake"; }
    [[nodiscard]] std::string_view version() const override { return "1"; }
    [[nodiscard]] std::expected<Measurement, MeasureError> measure(const MeasuredLaunch& launch) override {
        ++launches;
        if (!fault.empty()) return std::unexpected(MeasureError{.limit = false, .message = fault});
        std::vector<std::int32_t> integers((launch.arguments->bytes.size() + 3) / 4);
        std::memcpy(integers.data(), launch.arguments->bytes.data(), launch.arguments->bytes.size());
        if (const MeasureError found = faults(integers); !found.message.empty())
            return std::unexpected(found);
        const double each = works(integers) ? instructions(integers) : 2;
        double blocks = 0;
        for (const BlockClass& one : launch.classes) blocks += static_cast<double>(one.blocks.size());
        for (const BoxOfBlocks& box : launch.boxes)
            for (const auto& group : box.groups) blocks += static_cast<double>(group.size());
        const double warps = blocks * std::ceil(launch.block.x * launch.block.y * launch.block.z / 32.0);
        if (each * warps > static_cast<double>(launch.instruction_limit))
            return std::unexpected(MeasureError{.limit = true, .message = "limit"});
        Measurement out;
        const auto set = [&](Metric m, double v) { out.values[static_cast<std::size_t>(m)] = v; };
        set(Metric::warp_instructions, each);
        set(Metric::load_requests, each / 4 + launch.seed * seed_changes);
        set(Metric::load_sectors, sectors(integers));
        set(Metric::active_blocks, works(integers) ? static_cast<double>(launch.blocks) : 0);
        out.box_sectors.assign(launch.boxes.size(), 5);
        out.warp_instructions = static_cast<std::uint64_t>(each * warps);
        return out;
    }
};

KernelDescription kernel_of(std::initializer_list<const char*> sizes) {
    KernelBuilder builder("k", {true, false, false});
    for (const char* name : sizes) builder.integer(name);
    return builder.guard(Dimension::x, argument(0)).build();
}

TEST(ProfileKernel, MeasuresEveryPlannedPoint) {
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return 10.0 * a[1] + 3; };
    const auto profile = profile_kernel(kernel_of({"n", "m"}), backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->backend_name, "fake");
    EXPECT_EQ(profile->data_names, (std::vector<std::string>{"n", "m", "extent.x"}));
    EXPECT_EQ(profile->varied, (std::vector<bool>{true, true, true}));
    EXPECT_EQ(profile->ranges.end[0], (LinearForm{.constant = 0, .terms = {{0, 1}}}));
    EXPECT_GT(profile->points.size(), 40u);
    bool held_out = false, boxes = false;
    for (const ProfilePoint& point : profile->points) {
        held_out |= point.held_out;
        if (const auto& work = point.metrics[0])
            EXPECT_EQ(*work, 10 * point.data[1] + 3);
        else
            boxes |= point.metrics[static_cast<std::size_t>(model::Metric::footprint_sectors)] == 5.0;
    }
    EXPECT_TRUE(held_out);
    EXPECT_TRUE(boxes);
    EXPECT_TRUE(profile->data_dependent.empty());
    EXPECT_LT(profile->warp_instructions, 2 * ProfileOptions{}.instruction_budget);
}

TEST(ProfileKernel, StaysNearItsBudget) {
    for (const double scale : {1.0, 40.0, 900.0}) {
        FakeBackend backend;
        backend.instructions = [&](const auto& a) { return scale * a[0] / 4; };
        const auto profile = profile_kernel(kernel_of({"n"}), backend, {});
        ASSERT_TRUE(profile) << profile.error().text();
        EXPECT_LT(profile->warp_instructions, 3 * ProfileOptions{}.instruction_budget) << scale;
    }
}

// Its points, each within the limit, would be a hundred times the budget together.
TEST(ProfileKernel, ASlowKernelHasABudgetOfItsOwn) {
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return a[0] <= 64 ? 2e4 : 9e5; };
    const auto profile = profile_kernel(kernel_of({"n"}), backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_GT(profile->left_out, 0u);
    EXPECT_LT(profile->warp_instructions, 16 * ProfileOptions{}.instruction_budget);
    std::set<double> sizes;
    for (const ProfilePoint& point : profile->points) sizes.insert(point.data[0]);
    EXPECT_GE(sizes.size(), 2u);
}

TEST(ProfileKernel, WhatGrowsBeyondMeasureIsKeptSmall) {
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return std::ldexp(4.0, std::min(a[1], 60)); };
    const auto profile = profile_kernel(kernel_of({"n", "levels"}), backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    for (const ProfilePoint& point : profile->points) EXPECT_LE(point.data[1], 8);
}

// Filters are 3 to 7 wide: what a thread counts to is planned as few as well.
TEST(ProfileKernel, WhatAThreadCountsToMayBeFew) {
    const auto least_of = [](double an_iteration) {
        FakeBackend backend;
        backend.instructions = [=](const auto& a) { return 20 + an_iteration * a[1]; };
        const auto profile = profile_kernel(kernel_of({"n", "width"}), backend, {});
        EXPECT_TRUE(profile);
        double least = 1e9;
        for (const ProfilePoint& point : profile->points) least = std::min(least, point.data[1]);
        return least;
    };
    EXPECT_EQ(least_of(5), few_iterations);
    // A few of what all threads of a launch share among them leave most without any.
    EXPECT_GT(least_of(0.01), few_iterations);
}

// Strides and paddings of filters leave most threads without work where they are large, those of two dimensions only
// together; what indices are divided by is a dimension, and stays large.
TEST(ProfileKernel, StepsAreKeptSmall) {
    KernelDescription kernel = kernel_of({"n", "stride", "padding", "height", "width"});
    kernel.data[4].divides = true;
    FakeBackend backend;
    backend.instructions = [](const auto& a) {
        const bool inside = a[1] * 4 < a[3] && a[2] < 16;
        return 20.0 + (inside ? 100.0 : 0) + (a[4] < 8 ? 1000.0 : 0);
    };
    const auto profile = profile_kernel(kernel, backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    std::array<double, 5> least{1e9, 1e9, 1e9, 1e9, 1e9}, most{};
    for (const ProfilePoint& point : profile->points)
        for (std::size_t i = 0; i < least.size() && !point.counts_alone(); ++i) {
            least[i] = std::min(least[i], point.data[i]);
            most[i] = std::max(most[i], point.data[i]);
        }
    EXPECT_EQ(most[1], 8);
    EXPECT_EQ(most[2], 8);
    EXPECT_GE(least[3], 16);
    EXPECT_GE(least[4], 16);
}

// A filter of as many rows as columns: its work grows with the square.
TEST(ProfileKernel, WhatGrowsWithItsSquareIsKeptSmall) {
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return 20.0 + 4.0 * a[1] * a[1]; };
    const auto profile = profile_kernel(kernel_of({"n", "width"}), backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    for (const ProfilePoint& point : profile->points) EXPECT_LE(point.data[1], 8);
}

TEST(ProfileKernel, AddressesAloneMakeAPitch) {
    FakeBackend backend;
    backend.instructions = [](const auto&) { return 20.0; };
    backend.sectors = [](const auto& a) { return a[1] < 100 ? 4.0 : 6.0; };
    const auto profile = profile_kernel(kernel_of({"n", "ld"}), backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->strides, std::vector<std::uint32_t>{1});
    EXPECT_EQ(profile->pitches, std::vector<std::uint32_t>{1});
    std::size_t near = 0;
    for (const ProfilePoint& point : profile->points)
        if (point.data[1] == 1)
            near++;
        else if (point.data[1] > 4)
            EXPECT_GE(point.data[1], point.data[0]);
    EXPECT_GT(near, 10u);
    // Coordinates of points and colours, too.
    EXPECT_EQ(profile->special, (std::vector<SpecialValue>{{1, 2}, {1, 3}, {1, 4}}));
    for (const SpecialValue& few : profile->special)
        EXPECT_GT(std::ranges::count_if(
                      profile->points, [&](const ProfilePoint& point) { return point.data[1] == few.value; }),
                  10);
    EXPECT_GT(profile->points.size(), 2 * near);
}

// The same at all sizes but a few small ones; not what grows, nor what ends with a fault there.
TEST(ProfileKernel, FewSmallValuesMayBeModes) {
    const auto special = [](const std::function<double(int)>& instructions, int fault = -1) {
        FakeBackend backend;
        backend.instructions = [=](const auto& a) { return instructions(a[1]); };
        backend.faults = [=](const auto& a) {
            return a[1] == fault ? MeasureError{.outside = true, .message = "outside"} : MeasureError{};
        };
        const auto profile = profile_kernel(kernel_of({"n", "mode"}), backend, {});
        EXPECT_TRUE(profile);
        if (!profile) return std::vector<double>{-1};
        std::vector<double> values;
        for (const SpecialValue& value : profile->special) {
            values.push_back(value.value);
            const auto at = [&](const ProfilePoint& point) { return point.data[1] == value.value; };
            EXPECT_GT(std::ranges::count_if(profile->points, at), 10);
            EXPECT_TRUE(std::ranges::any_of(
                profile->points, [&](const ProfilePoint& point) { return at(point) && point.held_out; }));
        }
        return values;
    };
    EXPECT_THAT(special([](int m) { return m == 1   ? 20.0
                                           : m == 3 ? 30.0
                                                    : 25.0; }),
                ::testing::ElementsAre(1, 3));
    EXPECT_THAT(special([](int m) { return m == 1   ? 20.0
                                           : m == 3 ? 30.0
                                                    : 25.0; }, 3),
                ::testing::ElementsAre(1));
    EXPECT_THAT(special([](int m) { return 20.0 + std::min(m, 8); }), ::testing::IsEmpty());
    EXPECT_THAT(special([](int m) { return 20.0 + std::min(m, 4); }), ::testing::IsEmpty())
        << "more than a few";
    EXPECT_THAT(special([](int m) { return 20.0 + m; }), ::testing::IsEmpty());
    EXPECT_THAT(special([](int) { return 20.0; }), ::testing::IsEmpty());
}

// Numbers that the code tests for are tried as well; where it does nothing at all others, the first of them is the usual one.
TEST(ProfileKernel, NumbersThatAreTestedForMayBeModes) {
    KernelDescription kernel = kernel_of({"n", "mode"});
    kernel.data[1].compared = {5, 8};
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return a[1] == 8 ? 40.0 : 20.0; };
    const auto some = profile_kernel(kernel, backend, {});
    ASSERT_TRUE(some) << some.error().text();
    EXPECT_THAT(some->special, ::testing::ElementsAre(SpecialValue{1, 8}));
    EXPECT_TRUE(some->varied[1]);

    backend.works = [](const auto& a) { return a[1] == 5 || a[1] == 8; };
    const auto alone = profile_kernel(kernel, backend, {});
    ASSERT_TRUE(alone) << alone.error().text();
    EXPECT_THAT(alone->special, ::testing::ElementsAre(SpecialValue{1, 8}));
    EXPECT_FALSE(alone->varied[1]);
    for (const ProfilePoint& point : alone->points) EXPECT_THAT(point.data[1], ::testing::AnyOf(5, 8));
}

TEST(ProfileKernel, SaysWhatDependsOnTheData) {
    FakeBackend backend;
    backend.instructions = [](const auto&) { return 20.0; };
    backend.seed_changes = 0.5;
    const auto profile = profile_kernel(kernel_of({"n"}), backend, {});
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->data_dependent, std::vector<Metric>{Metric::load_requests});
}

TEST(ProfileKernel, AFlagThatDecidesIsNotVaried) {
    const KernelDescription kernel = KernelBuilder("k", {true, false, false})
                                         .integer("n")
                                         .scalar("decides", "u8", 1)
                                         .scalar("does_not", "u8", 1)
                                         .guard(Dimension::x, argument(0))
                                         .build();
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return (a[1] & 0xff) == 0 ? 5.0 : 50.0; };
    const auto profile = profile_kernel(kernel, backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->varied, (std::vector<bool>{true, false, true, true}));
}

// beta == 0 is another kernel; what lies on one side of it is one.
TEST(ProfileKernel, AScaleHoldsUpToWhereTheWorkChanges) {
    const KernelDescription kernel = KernelBuilder("k", {true, false, false})
                                         .integer("n")
                                         .scalar("beta", "f32", 4)
                                         .guard(Dimension::x, argument(0))
                                         .build();
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return a[1] == 0 ? 5.0 : 50.0; };
    const auto profile = profile_kernel(kernel, backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->varied, (std::vector<bool>{true, false, true}));
    double least = 1, most = 1;
    for (const ProfilePoint& point : profile->points) {
        if (point.data[1] == 0) continue;
        least = std::min(least, point.data[1]);
        most = std::max(most, point.data[1]);
    }
    EXPECT_EQ(profile->special, (std::vector<SpecialValue>{{1, 0}}));
    EXPECT_EQ(least, 1e-3);
    EXPECT_EQ(most, 1e6);
}

// if (lo + i < hi), for i from 0: both only move the guard.
TEST(ProfileKernel, OneEndOfARangeIsLargeWhereTheOtherIsSmall) {
    KernelDescription kernel = KernelBuilder("k", {true, false, false})
                                   .integer("lo")
                                   .integer("hi")
                                   .guard(Dimension::x, operation("sub.s32", {argument(1), argument(0)}))
                                   .build();
    for (auto& parameter : kernel.data) parameter.coarse_in_memo = !parameter.is_extent;
    FakeBackend backend;
    backend.instructions = [](const auto&) { return 20.0; };
    backend.works = [](const auto& a) { return a[0] < a[1]; };
    const auto profile = profile_kernel(kernel, backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_GT(profile->points.size(), 20u);
    for (const ProfilePoint& point : profile->points) EXPECT_LT(point.data[0], point.data[1]);
    EXPECT_EQ(profile->ranges.end[0], (LinearForm{.constant = 0, .terms = {{0, -1}, {1, 1}}}));
}

// A row of vectors begins at multiples of `ld`; `m` is any number.
TEST(ProfileKernel, StridesOfVectorsAreMultiples) {
    FakeBackend backend;
    backend.instructions = [](const auto& a) { return 20.0 + a[1] + a[2]; };
    backend.faults = [](const auto& a) {
        return MeasureError{.misaligned = a[1] % 4 != 0, .message = a[1] % 4 != 0 ? "misaligned" : ""};
    };
    const auto profile = profile_kernel(kernel_of({"n", "ld", "m"}), backend, {});
    ASSERT_TRUE(profile) << profile.error().text();
    bool odd = false;
    for (const ProfilePoint& point : profile->points) {
        EXPECT_EQ(std::fmod(point.data[1], 4), 0);
        odd |= std::fmod(point.data[2], 2) == 1;
    }
    EXPECT_TRUE(odd);
}

TEST(ProfileKernel, ATableEndsSomewhere) {
    for (const std::int32_t end : {200, 64, 7}) {
        FakeBackend backend;
        backend.instructions = [](const auto& a) { return 20.0 + a[1]; };
        backend.faults = [end](const auto& a) {
            return MeasureError{.outside = a[1] > end, .message = a[1] > end ? "past the end" : ""};
        };
        const auto profile = profile_kernel(kernel_of({"n", "taps"}), backend, {});
        ASSERT_TRUE(profile) << profile.error().text();
        double least = 1e9, most = 0;
        for (const ProfilePoint& point : profile->points) {
            EXPECT_LE(point.data[1], end);
            least = std::min(least, point.data[1]);
            most = std::max(most, point.data[1]);
        }
        EXPECT_GT(most, 2 * least);
    }
}

TEST(ProfileKernel, FailuresAreOneLine) {
    FakeBackend backend;
    backend.instructions = [](const auto&) { return 20.0; };
    KernelDescription fixed = kernel_of({"n"});
    fixed.verdict = analysis::Verdict::fixed;
    EXPECT_EQ(profile_kernel(fixed, backend, {}).error().text(),
              "kernel k is left alone: there is no block to choose");
    KernelDescription one = kernel_of({"n"});
    one.dimensions[0].block = analysis::BlockWidth::one;
    EXPECT_EQ(profile_kernel(one, backend, {}).error().text(),
              "kernel k is not profiled: its block cannot change");
    EXPECT_EQ(backend.launches, 0);
    backend.instructions = [](const auto&) { return 1e12; };
    EXPECT_THAT(profile_kernel(kernel_of({"n"}), backend, {}).error().text(),
                HasSubstr("ran more than 12000000 warp instructions"));
    backend.fault = "trap in block 0";
    EXPECT_EQ(profile_kernel(kernel_of({"n"}), backend, {}).error().text(),
              "kernel k is not profiled: trap in block 0");
}

}  // namespace
}  // namespace trimtab::profiler
