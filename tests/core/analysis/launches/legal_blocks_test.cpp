// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch-time rule by itself: limits of the device, of the image and of the launch as written.
#include "core/analysis/launches/legal_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/analysis/launches/built_in_blocks.h"
#include "tests/core/analysis/judged_launch.h"
#include "trimtab/body_name.h"

namespace trimtab::analysis {
namespace {

using testing::HasSubstr;

// if (x < n && y < m) over parameters n and m.
KernelDescription plane() {
    KernelDescription kernel;
    kernel.verdict = Verdict::covering;
    kernel.dimensions[0].index = kernel.dimensions[1].index = Index::global;
    for (std::uint32_t i = 0; i < 2; i++) {
        KernelParameter parameter;
        parameter.index = i;
        parameter.offset = 4 * i;
        parameter.size = 4;
        kernel.parameters.push_back(parameter);
        const std::string text = std::string(R"(["setp.ge.s32", {"g": ")") + "xy"[i] +
                                 R"(", "type": "u32"}, {"param": )" + std::to_string(i) +
                                 R"(, "type": "s32"}])";
        kernel.guards.push_back({static_cast<Dimension>(i),
                                 expression_from_json(nlohmann::json::parse(text), "test").value(), ""});
    }
    return kernel;
}

trimtab_image limited_to(double threads) {
    trimtab_image image{};
    image.max_threads_per_block = threads;
    return image;
}
trimtab_image with_registers(double registers) {
    trimtab_image image{};
    image.registers_per_thread = registers;
    return image;
}

std::expected<trimtab_limits, std::string> legal(const KernelDescription& kernel, std::int32_t n,
                                                 std::int32_t m, trimtab_dim3 grid, trimtab_dim3 block,
                                                 const trimtab_image& image = {}) {
    return legal_blocks(kernel, test::arguments(kernel, n, m), grid, block, test::device(), image);
}

TEST(LegalBlocks, SayWhatTheLaunchMayHave) {
    const auto limits = legal(plane(), 100, 90, {4, 12, 1}, {32, 8, 1});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    EXPECT_EQ(limits->extent.x, 128u);
    EXPECT_EQ(limits->extent.y, 96u);
    EXPECT_EQ(limits->extent.z, 1u);
    EXPECT_EQ(limits->max_block.x, 1024u);
    EXPECT_EQ(limits->max_block.z, 1u);
    EXPECT_EQ(limits->max_threads, 1024u);
    EXPECT_EQ(limits->thread_multiple, 32u);
    EXPECT_EQ(limits->dividing, 0u);

    EXPECT_TRUE(is_legal(*limits, {32, 8, 1}));
    EXPECT_TRUE(is_legal(*limits, {96, 1, 1}));
    EXPECT_FALSE(is_legal(*limits, {100, 1, 1})) << "no whole warps";
    EXPECT_FALSE(is_legal(*limits, {64, 32, 1})) << "2048 threads";
    EXPECT_FALSE(is_legal(*limits, {32, 1, 2})) << "z stays 1";
    EXPECT_FALSE(is_legal(*limits, {0, 32, 1}));
    const trimtab_dim3 grid = covering_grid(*limits, {96, 5, 1});
    EXPECT_EQ(grid.x, 2u);
    EXPECT_EQ(grid.y, 20u);
    EXPECT_EQ(grid.z, 1u);
}

TEST(LegalBlocks, DivideWhereTheTailWouldWork) {
    // 130 columns, 128 threads: an index past the extent would work.
    const auto limits = legal(plane(), 130, 96, {4, 12, 1}, {32, 8, 1});
    ASSERT_TRUE(limits.has_value());
    EXPECT_EQ(limits->dividing, 1u);
    EXPECT_TRUE(is_legal(*limits, {64, 1, 1}));
    EXPECT_FALSE(is_legal(*limits, {96, 1, 1}));
    EXPECT_TRUE(is_legal(*limits, {32, 5, 1})) << "y is covered";
}

TEST(LegalBlocks, KeepTheTotalWhereItIsRead) {
    KernelDescription kernel = plane();
    kernel.dimensions[0].index = Index::of_total;
    const auto limits = legal(kernel, 100, 96, {4, 12, 1}, {32, 8, 1});
    ASSERT_TRUE(limits.has_value());
    EXPECT_EQ(limits->dividing, 1u);
}

TEST(LegalBlocks, ErrorsAreOneLine) {
    KernelDescription kernel = plane();
    EXPECT_THAT(legal(kernel, 1, 1, {4, 4, 2}, {32, 8, 1}).error(), HasSubstr("no index in z"));
    EXPECT_THAT(legal(kernel, 1, 1, {4, 4, 1}, {64, 32, 1}).error(), HasSubstr("limit of 1024 threads"));
    EXPECT_THAT(legal(kernel, 1, 1, {4, 70000, 1}, {32, 1, 1}).error(), HasSubstr("70000 blocks in y"));
    EXPECT_THAT(legal(kernel, 1, 1, {0, 1, 1}, {32, 1, 1}).error(), HasSubstr("no threads in x"));
    EXPECT_THAT(legal(kernel, 1, 1, {4, 1, 1}, {32, 8, 1}, limited_to(128)).error(),
                HasSubstr("limit of 128 threads"));
    // Indices past 2^31 - 1 change sign.
    EXPECT_THAT(legal(kernel, 1, 1, {2097152, 1, 1}, {1024, 1, 1}).error(), HasSubstr("more than 2^31 - 1"));
    kernel.verdict = Verdict::fixed;
    kernel.reasons.push_back({2, "a.cu:3", "the kernel reads a clock"});
    EXPECT_EQ(legal(kernel, 1, 1, {1, 1, 1}, {32, 1, 1}).error(), "the kernel reads a clock");
}

TEST(LegalBlocks, GridsAreOfLessThanTwentyFourBits) {
    EXPECT_THAT(legal(plane(), 1, 1, {0x1000000, 1, 1}, {32, 1, 1}).error(), HasSubstr("more than 2^24 - 1"));
    const auto limits = legal(plane(), 1, 1, {0xffffff, 1, 1}, {32, 1, 1});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    EXPECT_EQ(limits->max_grid.x, 0xffffffu);
    EXPECT_TRUE(is_legal(*limits, {64, 1, 1}));
    EXPECT_FALSE(is_legal(*limits, {16, 2, 1}));
}

TEST(LegalBlocks, TheFirstThreadsOfABlockAreThere) {
    KernelDescription kernel = plane();
    kernel.least_threads = 100;
    EXPECT_THAT(legal(kernel, 1, 1, {4, 1, 1}, {96, 1, 1}).error(), HasSubstr("its first 100 threads"));
    const auto limits = legal(kernel, 1000, 1, {4, 1, 1}, {256, 1, 1});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    EXPECT_FALSE(is_legal(*limits, {96, 1, 1}));
    EXPECT_TRUE(is_legal(*limits, {128, 1, 1}));
    EXPECT_TRUE(is_legal(*limits, {512, 1, 1}));
    for (std::uint32_t threads = 1; threads < 100; threads++)
        EXPECT_FALSE(is_legal(*limits, {threads, 1, 1})) << threads;
    const auto read = description_from_json(to_json(kernel), "test");
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(read->least_threads, 100u);
}

TEST(LegalBlocks, ATailAboveTheLargestIndexIsNotCovered) {
    const auto limits = legal(plane(), 100, 1, {2097151, 1, 1}, {1024, 1, 1});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    EXPECT_EQ(limits->dividing & 1, 1u);
}

TEST(LegalBlocks, RegistersLimitTheBlockButNotBelowWhatWasWritten) {
    const auto limits = legal(plane(), 100, 90, {4, 12, 1}, {32, 8, 1}, with_registers(100));
    ASSERT_TRUE(limits.has_value());
    // 100 registers a thread: 3328 a warp in units of 256; 19 warps in 65536.
    EXPECT_EQ(limits->max_threads, 608u);
    const auto written = legal(plane(), 100, 90, {4, 3, 1}, {32, 32, 1}, with_registers(100));
    ASSERT_TRUE(written.has_value());
    EXPECT_EQ(written->max_threads, 1024u);
}

TEST(LegalBlocks, ABodyWithABuiltInBlockHasLaunchesOfThatBlock) {
    KernelDescription body = plane();
    body.name = built_in_body_name("_Z5planeii", {32, 8, 0});
    EXPECT_EQ(body.name, "_Z5planeii$32x8x0$256");
    // A program may name its kernels as it likes.
    EXPECT_TRUE(legal(body, 100, 90, {4, 12, 1}, {64, 8, 1}).has_value());
    body.variant = Variant{.of = built_in_block_of("_Z5planeii"), .value = 256};
    EXPECT_TRUE(legal(body, 100, 90, {4, 12, 1}, {32, 8, 1}).has_value());
    EXPECT_THAT(legal(body, 100, 90, {4, 12, 1}, {64, 8, 1}).error(),
                HasSubstr("the kernel hard-codes blocks of 32 threads in x; this launch has 64"));
    EXPECT_THAT(legal(body, 100, 90, {4, 12, 1}, {32, 4, 1}).error(),
                HasSubstr("the kernel hard-codes blocks of 8 threads in y; this launch has 4"));

    KernelDescription kernel = plane();
    kernel.name = "_Z5planeii";
    EXPECT_TRUE(has_built_in_block_of(body, kernel));
    EXPECT_FALSE(has_built_in_block_of(kernel, kernel));
    kernel.name = "_Z5otherii";
    EXPECT_FALSE(has_built_in_block_of(body, kernel)) << "of another kernel";
    kernel.name = "_Z5planeii";
    kernel.parameters.pop_back();
    EXPECT_FALSE(has_built_in_block_of(body, kernel)) << "it takes other parameters";
    // One thread a block, which a kernel without threadIdx keeps.
    EXPECT_FALSE(keeps_its_block(plane()));
    kernel = plane();
    kernel.dimensions = {DimensionUse{Index::global, BlockWidth::one}, {}, {}};
    EXPECT_TRUE(keeps_its_block(kernel));
    kernel.verdict = Verdict::annotated;
    EXPECT_FALSE(keeps_its_block(kernel));
    body.name = built_in_body_name("_Z5planeii", {1, 1, 0});
    EXPECT_TRUE(legal(body, 100, 90, {100, 90, 1}, {1, 1, 1}).has_value());
    EXPECT_THAT(legal(body, 100, 90, {100, 90, 1}, {1, 32, 1}).error(),
                HasSubstr("hard-codes blocks of one thread in y"));
    // A macro's value is no block.
    EXPECT_FALSE(read_built_in_body("_Z5planeii$BLOCK$256"));
    EXPECT_FALSE(read_built_in_body("_Z5planeii$32x8$256"));
    EXPECT_FALSE(read_built_in_body("_Z5planeii$32x8x123456$256"));
}

TEST(LegalBlocks, SmallLaunchesNeedNoWholeWarps) {
    const auto tiny = legal(plane(), 3, 5, {1, 1, 1}, {3, 5, 1});
    ASSERT_TRUE(tiny.has_value());
    EXPECT_EQ(tiny->thread_multiple, 1u);
    const auto odd = legal(plane(), 300, 500, {100, 100, 1}, {3, 5, 1});
    ASSERT_TRUE(odd.has_value());
    EXPECT_EQ(odd->thread_multiple, 32u);
    // 125 and 27 have no power of two in them: no block of whole warps divides both.
    const auto indivisible = legal(plane(), 1000, 1000, {5, 3, 1}, {25, 9, 1});
    ASSERT_TRUE(indivisible.has_value());
    EXPECT_EQ(indivisible->dividing, 3u);
    EXPECT_EQ(indivisible->thread_multiple, 1u);
    EXPECT_TRUE(is_legal(*indivisible, {125, 3, 1}));
}

}  // namespace
}  // namespace trimtab::analysis
