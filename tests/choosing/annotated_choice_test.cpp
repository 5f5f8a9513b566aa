// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of a kernel whose annotation states grid and shared memory: 2 elements a thread, 4 bytes of shared
// memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/choose.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/device.h"
#include "tests/choosing/fake_driver.h"

namespace trimtab::choosing::testing {
namespace {

using ::testing::HasSubstr;

analysis::Expression parsed(const char* text) {
    return analysis::expression_from_json(nlohmann::json::parse(text), "test").value();
}

class AnnotatedChoice : public ::testing::Test {
  protected:
    AnnotatedChoice() {
        kernel_.verdict = analysis::Verdict::annotated;
        kernel_.guards.clear();
        kernel_.annotated_block =
            parsed(R"(["setp.ge.s64", {"block": "x", "type": "s64"}, {"value": 64, "type": "s64"}])");
        kernel_.annotated_grid[0] = parsed(R"(["div.s64", ["sub.s64", ["add.s64",
            ["cvt.s64.s32", {"param": 0, "offset": 0, "type": "s32"}],
            ["mul.lo.s64", {"value": 2, "type": "s64"}, {"block": "x", "type": "s64"}]], {"value": 1, "type": "s64"}],
            ["mul.lo.s64", {"value": 2, "type": "s64"}, {"block": "x", "type": "s64"}]])");
        kernel_.annotated_shared =
            parsed(R"(["mul.lo.s64", {"value": 4, "type": "s64"}, {"block": "x", "type": "s64"}])");
        driver_script().best = {128, 1, 1};
        driver_script().select_result = 1;
        driver_script().doubt = 0;
        driver_script().predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 100.0 : 500.0;
        };
    }
    LaunchShape shape(std::uint32_t grid, std::uint32_t block, std::uint64_t shared_bytes) {
        return {
            .written = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .dynamic_shared_bytes = shared_bytes},
            .arguments = arguments_.data()};
    }
    Decision decide(const LaunchShape& shape) {
        return choose({kernel_, fake_driver(kernel_), device_.values, image_}, shape, 0);
    }

    analysis::KernelDescription kernel_ = guarded_kernel();
    model::Device device_ = *model::find_device("rtx2070super");
    trimtab_image image_{};
    int n_ = 10000, step_ = 1, bound_ = 1;
    float* out_ = nullptr;
    std::array<void*, 4> arguments_{&n_, &out_, &step_, &bound_};
};

TEST_F(AnnotatedChoice, TakesTheStatedGridAndSharedMemory) {
    const Decision decision = decide(shape(20, 256, 1024));
    EXPECT_EQ(decision.by, By::annotated);
    EXPECT_EQ(name(decision.by), "annotated");
    EXPECT_TRUE(is_new_choice(decision.by));
    EXPECT_EQ(decision.launch.block.x, 128u);
    EXPECT_EQ(decision.launch.grid.x, 40u);
    EXPECT_EQ(decision.launch.dynamic_shared_bytes, 512u);
    // Of an earlier process: by the block alone.
    const auto stored = as_stored(kernel_, device_.values, image_, shape(20, 256, 1024),
                                  {.block = {512, 1, 1}, .written_ns = 2, .chosen_ns = 1});
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->launch.grid.x, 10u);
    EXPECT_EQ(stored->launch.dynamic_shared_bytes, 2048u);
    EXPECT_EQ(stored->by, By::remembered);
}

TEST_F(AnnotatedChoice, LeavesAloneWhatTheAnnotationDoesNotDescribe) {
    const auto left = [&](const LaunchShape& shape) {
        const Decision decision = decide(shape);
        EXPECT_EQ(decision.by, By::unchanged);
        EXPECT_EQ(decision.launch.grid.x, shape.written.grid.x);
        EXPECT_EQ(decision.launch.block.x, shape.written.block.x);
        EXPECT_EQ(decision.launch.dynamic_shared_bytes, shape.written.dynamic_shared_bytes);
        EXPECT_FALSE(as_stored(kernel_, device_.values, image_, shape, {.block = {512, 1, 1}}).has_value());
        EXPECT_TRUE(predict_all({kernel_, fake_driver(kernel_), device_.values, image_}, shape).empty());
        return decision.reason;
    };
    EXPECT_THAT(left(shape(21, 256, 1024)), HasSubstr("a grid of 20 x 1 x 1"));
    EXPECT_THAT(left(shape(20, 256, 2048)), HasSubstr("1024 bytes of dynamic shared memory"));
    EXPECT_THAT(left(shape(157, 32, 128)), HasSubstr("rules out the block as written (32 x 1 x 1)"));
    // A proof is no word on shared memory.
    kernel_ = guarded_kernel();
    EXPECT_THAT(left(shape(40, 256, 1024)), HasSubstr("dynamic shared memory"));
}

TEST_F(AnnotatedChoice, SharedMemoryStaysWithinWhatTheLaunchCouldHave) {
    const auto most = [&](const LaunchShape& shape) {
        const auto limits =
            limits_of(kernel_, argument_bytes(kernel_, shape.arguments), device_.values, image_, shape);
        return limits ? limits->max_dynamic_shared_bytes : 0;
    };
    LaunchShape written = shape(20, 256, 1024);
    EXPECT_EQ(most(written), 49152u);
    written.max_dynamic_shared_bytes = 2000;  // cudaFuncSetAttribute may ask for less too
    EXPECT_EQ(most(written), 2000u);
    written.max_dynamic_shared_bytes = 65536;
    EXPECT_EQ(most(written), 65536u);
    written.max_dynamic_shared_bytes = 512;  // it was launched with more, so there is more
    EXPECT_EQ(most(written), 1024u);
    // A driver program that offers more is not believed.
    driver_script().best = {512, 1, 1};
    driver_script().predict = [](const double*, trimtab_dim3 block) {
        return block.x == 512 ? 100.0 : 500.0;
    };
    EXPECT_THAT(decide(written).nonsense, HasSubstr("not legal"));
    written.max_dynamic_shared_bytes = 2048;
    EXPECT_EQ(decide(written).launch.grid.x, 10u);
}

}  // namespace
}  // namespace trimtab::choosing::testing
