// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/active_indices.h"

#include <gtest/gtest.h>

#include <cstring>

#include "made_up_kernels.h"
#include "profiler/arguments.h"

namespace trimtab::profiler {
namespace {

using namespace testing;

IndexRanges ranges_of(const KernelDescription& kernel, const std::vector<std::vector<double>>& points) {
    std::vector<std::array<Indices, 3>> found;
    for (const auto& point : points) found.push_back(active_indices(kernel, make_arguments(kernel, point)));
    return index_ranges(kernel, points, found);
}

// Threads with k < x < n do something.
class BetweenBackend : public Backend {
  public:
    std::int32_t n = 0, k = 0;
    [[nodiscard]] std::string_view name() const override { return "between"; }
    [[nodiscard]] std::string_view version() const override { return "1"; }
    [[nodiscard]] std::expected<Measurement, MeasureError> measure(const MeasuredLaunch& launch) override {
        const auto x = static_cast<std::int32_t>(launch.classes.at(0).blocks.at(0) % launch.grid.x);
        Measurement out;
        out.values[static_cast<std::size_t>(model::Metric::active_blocks)] = x > k && x < n ? 1 : 0;
        return out;
    }
};

TEST(ActiveIndices, AreObservedWhereGuardsSayLess) {
    const KernelDescription kernel = KernelBuilder("k3", {true, false, false})
                                         .integer("k")
                                         .integer("n")
                                         .guard(Dimension::x, argument(1))
                                         .build();
    BetweenBackend backend;
    for (const auto& [k, n, end] : {std::array{16, 256, 256}, {0, 300, 300}, {5, 100, 256}}) {
        backend.k = k;
        backend.n = n;
        const std::vector<double> data{double(k), double(end), double(end)};
        const auto found = observed_indices(kernel, backend, data, 1000);
        EXPECT_EQ(found[0].first, static_cast<std::uint64_t>(k) + 1);
        EXPECT_EQ(found[0].end, static_cast<std::uint64_t>(n));
    }
}

TEST(ActiveIndices, AreLinearFormsOfTheGuards) {
    // 3 <= i < n - t - 1, j without a guard.
    const KernelDescription kernel =
        KernelBuilder("fan", {true, true, false})
            .integer("n")
            .integer("t")
            .guard(Dimension::x,
                   operation("sub.s32", {operation("sub.s32", {argument(0), argument(1)}), constant(1)}))
            .guard_below(Dimension::x, constant(3))
            .build();
    const std::vector<std::vector<double>> points{
        {64, 0, 64, 32}, {128, 0, 128, 32}, {64, 16, 64, 32}, {200, 7, 200, 40}};
    const IndexRanges ranges = ranges_of(kernel, points);
    EXPECT_EQ(ranges.first[0], (LinearForm{.constant = 3, .terms = {}}));
    EXPECT_EQ(ranges.end[0], (LinearForm{.constant = -1, .terms = {{0, 1}, {1, -1}}}));
    EXPECT_EQ(ranges.end[1], (LinearForm{.constant = 0, .terms = {{3, 1}}}));  // its extent
    EXPECT_EQ(ranges.end[2], (LinearForm{.constant = 1, .terms = {}}));
    EXPECT_EQ(ranges.evaluate(std::vector<double>{1000, 100, 4096, 77}),
              (std::array<double, 6>{3, 899, 0, 77, 0, 1}));
}

TEST(ActiveIndices, WhatIsNotLinearIsTheExtent) {
    const KernelDescription kernel =
        KernelBuilder("flat", {true, false, false})
            .integer("w")
            .integer("h")
            .guard(Dimension::x, operation("mul.lo.s32", {argument(0), argument(1)}))
            .build();
    const auto found = active_indices(kernel, make_arguments(kernel, std::vector<double>{100, 30, 3000}));
    EXPECT_EQ(found[0].end, 3000u);
    EXPECT_EQ(found[1].end, 1u);
    const std::vector<std::vector<double>> points{
        {64, 64, 4096}, {128, 64, 8192}, {64, 128, 8192}, {128, 128, 16384}};
    EXPECT_EQ(ranges_of(kernel, points).end[0], (LinearForm{.constant = 0, .terms = {{2, 1}}}));
}

TEST(ActiveIndices, AGuardThatNothingPassesIsNoBound) {
    const KernelDescription kernel =
        KernelBuilder("never", {true, false, false}).integer("n").guard(Dimension::x, constant(0)).build();
    EXPECT_FALSE(active_indices(kernel, make_arguments(kernel, std::vector<double>{1, 1}))[0].end);
}

TEST(Arguments, HoldDataAndRegions) {
    KernelDescription kernel = KernelBuilder("mixed", {true, false, false})
                                   .pointer("p", "double")
                                   .integer("n")
                                   .scalar("f", "f32", 4)
                                   .scalar("flag", "u8", 1)
                                   .build();
    kernel.parameters.push_back(
        {.index = 4, .name = "s", .offset = 24, .size = 24, .type = "S", .ptx_type = "b8", .pointee = {}});
    kernel.parameters.back().members = {{.offset = 16, .pointee = "short"}};
    kernel.data.push_back({.name = "s+8", .parameter = 4, .offset = 8, .type = "s64", .bounds = {}});
    const Arguments arguments = make_arguments(kernel, std::vector<double>{77, 1.5, 1, 256, -3});
    ASSERT_EQ(arguments.bytes.size(), 48u);
    const auto read = [&]<class T>(std::size_t offset, T value) {
        std::memcpy(&value, arguments.bytes.data() + offset, sizeof value);
        return value;
    };
    EXPECT_EQ(read(8, std::int32_t{}), 77);
    EXPECT_EQ(read(12, float{}), 1.5F);
    EXPECT_EQ(read(16, std::uint8_t{}), 1);
    EXPECT_EQ(read(32, std::int64_t{}), -3);
    ASSERT_EQ(arguments.pointers.size(), 3u);  // p, and what may be addresses in s
    EXPECT_EQ(arguments.pointers[0].offset, 0u);
    EXPECT_EQ(arguments.pointers[0].fill, Fill::f64);
    EXPECT_EQ(arguments.pointers[0].element_bytes, 8u);
    EXPECT_EQ(arguments.pointers[1].offset, 24u);
    EXPECT_EQ(arguments.pointers[2].offset, 40u);
    EXPECT_NE(arguments.pointers[1].region, arguments.pointers[2].region);
    EXPECT_EQ(arguments.pointers[1].fill, Fill::f32);  // nothing tells
    EXPECT_EQ(arguments.pointers[2].fill, Fill::integer);
    EXPECT_EQ(arguments.pointers[2].element_bytes, 2u);
    EXPECT_EQ(element_bytes(kernel), (std::vector<std::uint32_t>{2, 8}));
}

}  // namespace
}  // namespace trimtab::profiler
