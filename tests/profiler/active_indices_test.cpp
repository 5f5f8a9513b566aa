#include "profiler/active_indices.h"

#include <gtest/gtest.h>

#include <cstring>

#include "made_up_kernels.h"
#include "profiler/arguments.h"

namespace trimtab::profiler {
namespace {

using namespace testing;

TEST(ActiveIndices, AreLinearFormsOfTheGuards) {
    // 3 <= i < n - t - 1, j without a guard.
    const KernelDescription kernel =
        KernelBuilder("fan", {true, true, false})
            .integer("n")
            .integer("t")
            .guard(Dimension::x,
                   operation("sub.s32", ptx::Type::s32,
                             {operation("sub.s32", ptx::Type::s32, {argument(0), argument(1)}), constant(1)}))
            .guard_below(Dimension::x, constant(3))
            .build();
    const std::vector<std::vector<double>> points{
        {64, 0, 64, 32}, {128, 0, 128, 32}, {64, 16, 64, 32}, {200, 7, 200, 40}};
    const IndexRanges ranges = index_ranges(kernel, points);
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
            .guard(Dimension::x, operation("mul.lo.s32", ptx::Type::s32, {argument(0), argument(1)}))
            .build();
    const auto found = active_indices(kernel, make_arguments(kernel, std::vector<double>{100, 30, 3000}));
    EXPECT_EQ(found[0].end, 3000u);
    EXPECT_EQ(found[1].end, 1u);
    const std::vector<std::vector<double>> points{
        {64, 64, 4096}, {128, 64, 8192}, {64, 128, 8192}, {128, 128, 16384}};
    EXPECT_EQ(index_ranges(kernel, points).end[0], (LinearForm{.constant = 0, .terms = {{2, 1}}}));
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
    EXPECT_EQ(arguments.pointers[1].offset, 24u);
    EXPECT_EQ(arguments.pointers[2].offset, 40u);
    EXPECT_NE(arguments.pointers[1].region, arguments.pointers[2].region);
    EXPECT_EQ(element_bytes(kernel), std::vector<std::uint32_t>{8});
}

}  // namespace
}  // namespace trimtab::profiler
