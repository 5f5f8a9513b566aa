// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of a kernel that may become launches of a body in which a thread does the work of several.
#include "core/analysis/launches/coarsened.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/analysis/launches/legal_blocks.h"
#include "tests/core/analysis/judged_launch.h"
#include "trimtab/body_name.h"

namespace trimtab::analysis {
namespace {

using testing::HasSubstr;

Expression expression(const std::string& text) {
    return expression_from_json(nlohmann::json::parse(text), "test").value();
}
Guard guard(Dimension dimension, const std::string& text) {
    return {dimension, expression(text), ""};
}

// if (x < n && y < m) over parameters n and m.
KernelDescription plane() {
    KernelDescription kernel;
    kernel.name = "_Z5planeii";
    kernel.verdict = Verdict::covering;
    kernel.dimensions[0].index = kernel.dimensions[1].index = Index::global;
    for (std::uint32_t i = 0; i < 2; i++) {
        KernelParameter parameter;
        parameter.index = i;
        parameter.offset = 4 * i;
        parameter.size = 4;
        kernel.parameters.push_back(parameter);
    }
    kernel.guards = {
        guard(Dimension::x, R"(["setp.ge.s32", {"g": "x", "type": "u32"}, {"param": 0, "type": "s32"}])"),
        guard(Dimension::y, R"(["setp.ge.s32", {"g": "y", "type": "u32"}, {"param": 1, "type": "s32"}])")};
    return kernel;
}

KernelDescription body_of(const KernelDescription& kernel, std::size_t dimension, std::uint32_t elements) {
    KernelDescription body = kernel;
    body.name = coarsened_body_name(kernel.name, dimension, elements);
    body.variant = Variant{.of = threads_of(kernel.name), .value = static_cast<std::int32_t>(elements)};
    // As the proof finds them: none that tells.
    body.guards.clear();
    body.verdict = Verdict::dividing;
    body.reasons = {{3, "", "no test"}};
    return body;
}

struct Both {
    KernelDescription kernel, body;
};
Both completed(const KernelDescription& kernel, std::size_t dimension, std::uint32_t elements) {
    std::vector<KernelDescription> kernels{kernel, body_of(kernel, dimension, elements)};
    complete_coarsened(kernels);
    EXPECT_EQ(kernels.size(), 2u);
    return {kernels.front(), kernels.back()};
}

std::expected<CoarsenedLaunch, std::string> launch(const Both& both, std::int32_t n, std::int32_t m,
                                                   trimtab_dim3 grid, trimtab_dim3 block) {
    return coarsened_launch(both.kernel, both.body, test::arguments(both.kernel, n, m), grid, block,
                            test::device(), {});
}

TEST(Coarsened, BodiesAreKnownByTheirNamesAndByThePlugin) {
    EXPECT_EQ(coarsened_body_name("_Z5planeii", 1, 16), "_Z5planeii$16y$16");
    const auto read = read_coarsened_body("_Z5planeii$16y$16");
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->kernel, "_Z5planeii");
    EXPECT_EQ(read->dimension, 1u);
    EXPECT_EQ(read->elements, 16u);
    for (const char* other :
         {"_Z5planeii", "_Z5planeii$BLOCK$16", "_Z5planeii$32x8x0$256", "_Z5planeii$8y$16",
          "_Z5planeii$16w$16", "_Z5planeii$123y$123", "_Z5planeii$0y$0"})
        EXPECT_FALSE(read_coarsened_body(other)) << other;
    EXPECT_EQ(readable_body_name("plane(int, int)", *read_body_name("_Z5planeii$4x$4")),
              "plane(int, int) [4 elements a thread in x]");
    EXPECT_EQ(readable_body_name("plane(int, int)", *read_body_name("_Z5planeii$32x8x0$256")),
              "plane(int, int) [blockDim for 32x8]");
    EXPECT_EQ(readable_body_name("plane(int, int)", *read_body_name("_Z5planeii$x$4")),
              "plane(int, int) [x=4]");

    KernelDescription body = body_of(plane(), 1, 4);
    ASSERT_TRUE(coarsening(body).has_value());
    EXPECT_EQ(coarsening(body)->group(), 1u);
    EXPECT_EQ(coarsening(body_of(plane(), 0, 4))->group(), 32u);
    body.variant.reset();
    EXPECT_FALSE(coarsening(body)) << "a program may name its kernels as it likes";
    body.variant = Variant{.of = "plane", .value = 4};
    EXPECT_FALSE(coarsening(body));
}

TEST(Coarsened, GuardsAreTheKernelsAtTheFirstElement) {
    const Both rows = completed(plane(), 1, 4);
    EXPECT_EQ(rows.body.verdict, Verdict::covering);
    EXPECT_TRUE(rows.body.reasons.empty());
    const std::vector<std::string> names{"n", "m"};
    ASSERT_EQ(rows.body.guards.size(), 2u);
    EXPECT_EQ(to_text(rows.body.guards[0].exits, names), "g.x >= n");
    EXPECT_EQ(to_text(rows.body.guards[1].exits, names), "g.y * 4 >= m");
    const Both columns = completed(plane(), 0, 4);
    EXPECT_EQ(to_text(columns.body.guards[0].exits, names), "g.x / 32 * 128 >= n");
    const auto read = description_from_json(to_json(columns.body), "test");
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(read->guards[0].exits, columns.body.guards[0].exits);

    // Of tests that a larger index may make false, and of arithmetic that may overflow, there are none.
    for (
        const char* test :
        {R"(["setp.lt.s32", {"g": "y", "type": "u32"}, {"param": 1, "type": "s32"}])",
         R"(["setp.eq.s32", {"g": "y", "type": "u32"}, {"param": 1, "type": "s32"}])",
         R"(["setp.ge.s32", ["mul.lo.u32", {"g": "y", "type": "u32"}, {"value": 4, "type": "u32"}], {"param": 1, "type": "s32"}])",
         R"(["setp.ge.s32", ["add.u32", {"g": "y", "type": "u32"}, {"value": 16777216, "type": "u32"}], {"param": 1, "type": "s32"}])",
         R"(["setp.ge.s32", ["and.b32", {"g": "y", "type": "u32"}, {"value": 255, "type": "b32"}], {"param": 1, "type": "s32"}])"}) {
        KernelDescription kernel = plane();
        kernel.guards[1] = guard(Dimension::y, test);
        const Both both = completed(kernel, 1, 4);
        EXPECT_EQ(both.body.guards.size(), 1u) << test;
        EXPECT_EQ(both.body.verdict, Verdict::dividing) << test;
        EXPECT_FALSE(both.body.reasons.empty()) << test;
        EXPECT_THAT(launch(both, 96, 90, {4, 13, 1}, {32, 7, 1}).error(), HasSubstr("no plain test")) << test;
        EXPECT_TRUE(launch(both, 96, 90, {4, 12, 1}, {32, 8, 1}).has_value()) << test << ": a multiple of 4";
    }
    KernelDescription kernel = plane();
    kernel.guards[1] = guard(
        Dimension::y,
        R"(["setp.ge.s32", ["add.u32", {"g": "y", "type": "u32"}, {"value": 1, "type": "u32"}], {"param": 1, "type": "s32"}])");
    EXPECT_EQ(to_text(completed(kernel, 1, 4).body.guards[1].exits, names), "g.y * 4 + 1 >= m");
}

TEST(Coarsened, LaunchesHaveAsManyThreadsAsTheWorkAsksFor) {
    const Both rows = completed(plane(), 1, 4);
    const auto of_rows = launch(rows, 100, 90, {4, 13, 1}, {32, 7, 1});
    ASSERT_TRUE(of_rows.has_value()) << of_rows.error();
    EXPECT_EQ(of_rows->extent, (std::array<std::uint64_t, 3>{128, 23, 1}));  // of 91 rows
    EXPECT_EQ(of_rows->limits.extent.y, 23u);
    EXPECT_EQ(of_rows->limits.dividing, 0u);
    const trimtab_dim3 grid = covering_grid(of_rows->limits, {64, 4, 1});
    EXPECT_EQ(grid.x, 2u);
    EXPECT_EQ(grid.y, 6u);

    const Both columns = completed(plane(), 0, 4);
    const auto of_columns = launch(columns, 1000, 90, {4, 90, 1}, {256, 1, 1});
    ASSERT_TRUE(of_columns.has_value()) << of_columns.error();
    EXPECT_EQ(of_columns->extent, (std::array<std::uint64_t, 3>{256, 90, 1}));
    const auto uneven = launch(columns, 1000, 90, {5, 90, 1}, {225, 1, 1});
    ASSERT_TRUE(uneven.has_value()) << uneven.error();
    EXPECT_EQ(uneven->extent[0], 288u);  // 1125 threads are 9 times 128
}

TEST(Coarsened, ThreadsThatRoundingAddsMustEndAtOnce) {
    const Both rows = completed(plane(), 1, 4);
    EXPECT_TRUE(launch(rows, 100, 91, {4, 13, 1}, {32, 7, 1}).has_value());
    // Row 91 would work.
    EXPECT_THAT(launch(rows, 100, 92, {4, 13, 1}, {32, 7, 1}).error(), HasSubstr("91 threads in y"));
    EXPECT_TRUE(launch(rows, 100, 92, {4, 23, 1}, {32, 4, 1}).has_value());
    const Both columns = completed(plane(), 0, 4);
    EXPECT_THAT(launch(columns, 1025, 90, {4, 90, 1}, {255, 1, 1}).error(), HasSubstr("multiple of 128"));
    EXPECT_TRUE(launch(columns, 1020, 90, {4, 90, 1}, {255, 1, 1}).has_value());
    // A signed test of a large number.
    EXPECT_FALSE(launch(columns, 2000000000, 90, {4, 90, 1}, {255, 1, 1}).has_value());
}

TEST(Coarsened, OnlyOfKernelsThatAreProvedThreadByThread) {
    const auto is_refused = [](const KernelDescription& kernel, std::size_t dimension = 1) {
        std::vector<KernelDescription> kernels{kernel, body_of(kernel, dimension, 4)};
        kernels.back().verdict = Verdict::covering;
        complete_coarsened(kernels);
        return kernels.size() == 1;
    };
    EXPECT_FALSE(is_refused(plane()));
    KernelDescription kernel = plane();
    for (const Verdict verdict : {Verdict::fixed, Verdict::annotated}) {
        kernel.verdict = verdict;
        EXPECT_TRUE(is_refused(kernel)) << name(verdict);
    }
    kernel = plane();
    kernel.dimensions[1].index = Index::of_total;
    EXPECT_TRUE(is_refused(kernel)) << "it reads gridDim";
    kernel.dimensions[1].index = Index::in_block;
    EXPECT_TRUE(is_refused(kernel)) << "it loops over a block's threads";
    kernel.dimensions[1].index = Index::none;
    EXPECT_TRUE(is_refused(kernel)) << "it has no rows";
    kernel = plane();
    kernel.dimensions[1].block = BlockWidth::one;
    EXPECT_FALSE(is_refused(kernel)) << "it reads blockIdx.y alone";
    kernel.dimensions[0].block = BlockWidth::one;
    EXPECT_TRUE(is_refused(kernel, 0)) << "a warp along x is no block of one thread";
    kernel = plane();
    kernel.dimensions[0].block = BlockWidth::warps;
    EXPECT_TRUE(is_refused(kernel)) << "its warps are units";
    kernel = plane();
    kernel.strides.push_back({Dimension::x, {}, ""});
    EXPECT_TRUE(is_refused(kernel)) << "it strides";
    kernel = plane();
    kernel.apart.emplace_back();
    EXPECT_TRUE(is_refused(kernel)) << "it has barriers";
    kernel = plane();
    kernel.least_threads = 32;
    EXPECT_TRUE(is_refused(kernel)) << "its first threads fill shared memory";
    kernel = plane();
    kernel.may_reassociate = true;
    EXPECT_TRUE(is_refused(kernel)) << "its sums are regrouped";

    // A body that is fixed, of another kernel, or with other parameters.
    std::vector<KernelDescription> kernels{plane(), body_of(plane(), 1, 4)};
    kernels.back().verdict = Verdict::fixed;
    complete_coarsened(kernels);
    EXPECT_EQ(kernels.size(), 1u);
    kernels = {plane(), body_of(plane(), 1, 4)};
    kernels.front().name = "_Z5otherii";
    complete_coarsened(kernels);
    EXPECT_EQ(kernels.size(), 1u);
    kernels = {plane(), body_of(plane(), 1, 4)};
    kernels.back().parameters.pop_back();
    complete_coarsened(kernels);
    EXPECT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels.front().name, "_Z5planeii");
}

TEST(Coarsened, TheLaunchAsWrittenKeepsTheRulesOfTheKernel) {
    KernelDescription kernel = plane();
    kernel.dimensions[1].block = BlockWidth::one;
    const Both rows = completed(kernel, 1, 4);
    EXPECT_TRUE(launch(rows, 100, 90, {4, 90, 1}, {32, 1, 1}).has_value());
    EXPECT_THAT(launch(rows, 100, 90, {4, 45, 1}, {32, 2, 1}).error(), HasSubstr("the block has 2 threads"));
    const Both plain = completed(plane(), 1, 4);
    EXPECT_THAT(launch(plain, 100, 90, {4, 12, 2}, {32, 8, 1}).error(), HasSubstr("no index in z"));
    EXPECT_FALSE(launch(plain, 100, 90, {0, 12, 1}, {32, 8, 1}).has_value());
    EXPECT_THAT(launch({plane(), plane()}, 100, 90, {4, 12, 1}, {32, 8, 1}).error(), HasSubstr("no body"));
}

}  // namespace
}  // namespace trimtab::analysis
