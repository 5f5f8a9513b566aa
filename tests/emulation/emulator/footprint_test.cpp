// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Footprints of boxes: which a model asks for, and what shapes say of those that nobody ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/model/device.h"
#include "core/model/performance_model.h"
#include "emulation/emulator/metrics/footprint_boxes.h"
#include "emulation/emulator/metrics/metrics.h"
#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::test {
namespace {

using model::Metric;
using testing::Contains;
using testing::ElementsAre;

constexpr std::size_t metric_index(Metric metric) {
    return static_cast<std::size_t>(metric);
}

TEST(FootprintShape, MeasuredShapesAreExact) {
    const FootprintShape shape({{32, 8, 1, 100}, {8, 32, 1, 700}, {256, 1, 1, 40}});
    EXPECT_EQ(shape.sectors(32, 8, 1), 100);
    EXPECT_EQ(shape.sectors(8, 32, 1), 700);
    EXPECT_EQ(shape.sectors(256, 1, 1), 40);
}

// A product's rows and columns, and its result: x + y and x * y, known from boxes next to each other,
// foretell boxes a hundred times as large.
TEST(FootprintShape, WhatIsMultilinearIsForetold) {
    const auto product = [](double x, double y) { return 64 * (x + y) + x * y / 8; };
    std::vector<FootprintSample> samples;
    for (const auto& [x, y] :
         {std::pair(32.0, 1.0), std::pair(32.0, 8.0), std::pair(64.0, 8.0), std::pair(32.0, 16.0)})
        samples.push_back({x, y, 1, product(x, y)});
    const FootprintShape shape(samples);
    for (const auto& [x, y] : {std::pair(2048.0, 20.0), std::pair(2048.0, 2048.0), std::pair(64.0, 512.0)})
        EXPECT_NEAR(shape.sectors(x, y, 1) / product(x, y), 1, 0.02) << x << " x " << y;
    // Every thread reads all of one array: no box touches more than it.
    const FootprintShape constant({{32, 1, 1, 500}, {32, 8, 1, 500}, {64, 8, 1, 500}, {32, 16, 1, 500}});
    EXPECT_NEAR(constant.sectors(2048, 2048, 1), 500, 1);
}

TEST(FootprintShape, BoxesWithinOthersTouchNoMore) {
    const FootprintShape shape({{32, 1, 1, 10}, {32, 8, 1, 60}, {512, 512, 1, 60}, {64, 8, 4, 900}});
    EXPECT_LE(shape.sectors(64, 64, 1), 60);
    EXPECT_GE(shape.sectors(64, 64, 1), 60);
    EXPECT_GE(shape.sectors(4096, 4096, 64), 900);
    EXPECT_LE(shape.sectors(8, 1, 1), 10);
}

TEST(FootprintShape, OneSampleGrowsInProportionAndNoneIsNothing) {
    const FootprintShape one({{128, 1, 1, 64}});
    EXPECT_NEAR(one.sectors(256, 1, 1), 128, 1e-6);
    EXPECT_NEAR(one.sectors(128, 2, 3), 384, 1e-6);
    EXPECT_TRUE(FootprintShape({}).empty());
    EXPECT_EQ(FootprintShape({}).sectors(1, 1, 1), 0);
    // What is no footprint is no sample.
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(FootprintShape({{0, 1, 1, 5}, {1, 1, 1, 0}, {1, 1, 1, infinity}, {-1, 1, 1, 5}}).empty());
    // Cut off at the grid's edge: the other counts.
    EXPECT_EQ(FootprintShape({{32, 1, 1, 7}, {32, 1, 1, 9}}).sectors(32, 1, 1), 9);
}

TEST(MeasuredMetrics, OnlyFootprintsDependOnTheBox) {
    model::MetricValues values{};
    values[metric_index(Metric::load_requests)] = 5;
    values[metric_index(Metric::footprint_sectors)] = 11;
    const auto measured = measured_metrics(values, {{16, 8, 1, 64}});
    EXPECT_EQ(measured(Metric::load_requests, 1, 2, 3), 5);
    EXPECT_EQ(measured(Metric::footprint_sectors, 16, 8, 1), 64);
    EXPECT_EQ(measured_metrics(values, {})(Metric::footprint_sectors, 1, 2, 3), 11);
}

TEST(FootprintBoxes, ARecordedProgramSaysWhichBoxesItReads) {
    model::RationalProgramBuilder builder("test");
    const auto x = builder.input("block.x"), one = builder.constant(1, "");
    const auto blocks = builder.metric(Metric::active_blocks, x, one, one);
    const auto time = builder.metric(Metric::footprint_sectors, x, one, one) +
                      builder.metric(Metric::footprint_sectors, x * blocks, one, one) +
                      builder.metric(Metric::footprint_sectors, x - x, one, one);
    const auto program = std::move(builder).finish(time, one - one);
    const std::vector<double> inputs{64};
    model::MetricValues values{};
    values[metric_index(Metric::active_blocks)] = 10;
    // In no order: which operand of a sum comes first is the compiler's choice.
    EXPECT_THAT(requested_boxes(program, inputs, values),
                testing::UnorderedElementsAre(ThreadBox{64, 1, 1}, ThreadBox{640, 1, 1}));
    EXPECT_THAT(requested_boxes(program, inputs, everything_active({3, 2, 1}, {64, 1, 1})),
                testing::UnorderedElementsAre(ThreadBox{64, 1, 1}, ThreadBox{384, 1, 1}));
}

TEST(FootprintBoxes, BoxesOfBlocksLieAroundTheRequestedOnesInTheGrid) {
    const trimtab_dim3 grid{10, 6, 1}, block{32, 8, 1};
    const BlockBox all{.first = {}, .count = {10, 6, 1}};
    // Two and a half rows of the grid, and more than the grid.
    const auto boxes = boxes_of_blocks({{320, 20, 1}, {32, 8, 1}, {16, 2, 1}, {3200, 48, 4}}, all, block);
    std::vector<std::array<std::uint64_t, 3>> counts;
    for (const BlockBox& box : boxes) {
        counts.push_back(box.count);
        EXPECT_GT(box.blocks(), 1u);
        for (std::size_t d = 0; d < 3; ++d) EXPECT_LE(box.first[d] + box.count[d], all.count[d]);
        const auto indices = box.indices(grid);
        EXPECT_EQ(std::set<std::uint64_t>(indices.begin(), indices.end()).size(), box.blocks());
        EXPECT_EQ(indices.front(), box.first_index(grid));
        EXPECT_EQ(indices.back(), box.last_index(grid));
        EXPECT_LT(indices.back(), 60u);
    }
    using Count = std::array<std::uint64_t, 3>;
    for (const Count& expected :
         {Count{10, 2, 1}, Count{10, 3, 1}, Count{10, 6, 1}, Count{2, 1, 1}, Count{1, 2, 1}})
        EXPECT_THAT(counts, Contains(expected));
    for (std::size_t i = 1; i < boxes.size(); ++i) EXPECT_LE(boxes[i - 1].blocks(), boxes[i].blocks());
    EXPECT_TRUE(boxes_of_blocks({{64, 64, 64}}, {.first = {4, 5, 0}, .count = {1, 1, 1}}, block).empty());
    // Only where blocks do something.
    for (const BlockBox& box :
         boxes_of_blocks({{3200, 48, 1}}, {.first = {4, 2, 0}, .count = {3, 2, 1}}, block)) {
        EXPECT_GE(box.first[0], 4u);
        EXPECT_LE(box.first[0] + box.count[0], 7u);
    }
}

// Each thread reads a row and a column, and writes one element.
constexpr const char* product_source = R"(
extern "C" __global__ void product(const float* a, const float* b, float* c, int n, int m) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float sum = 0;
    for (int k = 0; k < m; k++) sum += a[y * m + k] * b[k * n + x];
    c[y * n + x] = sum;
}
extern "C" __global__ void lone(const float* a, float* c, int m) {
    if (blockIdx.x * blockDim.x + threadIdx.x != 0) return;
    float sum = 0;
    for (int k = 0; k < m; k++) sum += a[32 * k];
    *c = sum;
}
)";

class MeasuredFootprints : public testing::Test {
  protected:
    void SetUp() override {
        const std::string ptx = compile_cuda(product_source);
        ASSERT_FALSE(ptx.empty());
        program_ = load(ptx);
        ASSERT_NE(program_, nullptr);
    }
    std::shared_ptr<Program> program_;
    HostMemory memory_;
};

// Every box that the default model reads at a launch is measured, and is what its threads touch.
TEST_F(MeasuredFootprints, OfTheModelsBoxesAreThoseOfEveryAddress) {
    const int n = 200, m = 24;
    const trimtab_dim3 grid{7, 50, 1}, block{32, 4, 1};
    std::vector<float> a(n * m), b(m * n), c(n * n);
    const auto device = model::find_device("gtx1080ti");
    ASSERT_TRUE(device);
    trimtab_device small = device->values;
    small.sm_count = 3;  // a wave is a part of the grid
    trimtab_image image{};
    image.registers_per_thread = 32;
    const auto model = model::performance_model(model::default_model);
    ASSERT_TRUE(model);
    const auto inputs = model::input_values(
        **model, small, image, {.extent = {224, 200, 1}, .block = block, .dynamic_shared_bytes = 0});
    const auto requested = requested_boxes(**model, inputs, everything_active(grid, block));
    const auto boxes = boxes_of_blocks(requested, {.first = {}, .count = {7, 50, 1}}, block);
    CountingPlan plan{.count = true, .footprints = true, .groups = {}};
    for (const BlockBox& box : boxes) plan.groups.push_back(box.indices(grid));
    const auto result = run(*program_, memory_, "product", {grid, block},
                            Parameters(memory_.add(a), memory_.add(b), memory_.add(c), n, m), plan);
    ASSERT_EQ(result.counters.group_sectors.size(), boxes.size());

    const auto brute_force = [&](std::uint64_t x0, std::uint64_t y0, std::uint64_t x1, std::uint64_t y1) {
        std::set<std::uint64_t> sectors;
        const auto touch = [&sectors](const float& at) {
            sectors.insert(reinterpret_cast<std::uint64_t>(&at) / 32);
        };
        for (std::uint64_t y = y0; y < std::min<std::uint64_t>(y1, n); ++y)
            for (std::uint64_t x = x0; x < std::min<std::uint64_t>(x1, n); ++x) {
                for (int k = 0; k < m; ++k) {
                    touch(a[y * m + k]);
                    touch(b[k * n + x]);
                }
                touch(c[y * n + x]);
            }
        return static_cast<double>(sectors.size());
    };
    std::vector<FootprintSample> samples = footprints_in_block(result.counters, block);
    ASSERT_EQ(samples.size(), 2u);
    std::set<ThreadBox> measured;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const BlockBox& box = boxes[i];
        const double sectors =
            brute_force(box.first[0] * 32, box.first[1] * 4, (box.first[0] + box.count[0]) * 32,
                        (box.first[1] + box.count[1]) * 4);
        EXPECT_EQ(static_cast<double>(result.counters.group_sectors[i]), sectors);
        const ThreadBox threads = box.threads(block);
        samples.push_back({threads[0], threads[1], threads[2], sectors});
        measured.insert(threads);
    }
    // A warp, looked at once in every block: rows and columns of 32 threads.
    double warps = 0, of_warps = 0;
    for (std::uint64_t index = 0; index < 350; ++index) {
        const std::uint64_t x = index % 7 * 32, y = index / 7 * 4 + index % 4;
        warps += 1;
        of_warps += brute_force(x, y, x + 32, y + 1);
    }
    EXPECT_EQ(samples[1].sectors, of_warps / warps);

    // Boxes of whole blocks as measured; those between as their neighbours, nearly.
    const FootprintShape shape(samples);
    int larger = 0;
    for (const ThreadBox& box : requested) {
        if (box[0] * box[1] <= 128) continue;
        ++larger;
        const auto y0 = std::uint64_t{100};
        const double whole = brute_force(0, y0, 224, y0 + static_cast<std::uint64_t>(box[1]));
        if (box[0] == 224 && box[1] <= 100)
            EXPECT_NEAR(shape.sectors(box[0], box[1], box[2]) / whole, 1, 0.05) << box[0] << " " << box[1];
    }
    EXPECT_GE(larger, 2);
    EXPECT_TRUE(measured.contains({224, 200, 1}));  // the launch
}

// One thread does all: its warp touches what its block touches.
TEST_F(MeasuredFootprints, OfAWarpAreNotAPartOfItsBlocks) {
    const int m = 100;
    std::vector<float> a(32 * m), c(1);
    const auto result =
        run(*program_, memory_, "lone", {{3, 1, 1}, {256, 1, 1}},
            Parameters(memory_.add(a), memory_.add(c), m), {.count = true, .footprints = true, .groups = {}});
    const auto samples = footprints_in_block(result.counters, {256, 1, 1});
    ASSERT_EQ(samples.size(), 2u);
    EXPECT_EQ(samples[0].sectors, m + 1);
    EXPECT_EQ(samples[1].sectors, m + 1);
    EXPECT_EQ(samples[1].x, 32);
    // A block of less than a warp is its own box.
    const auto small =
        run(*program_, memory_, "lone", {{3, 1, 1}, {16, 1, 1}}, Parameters(a.data(), c.data(), m),
            {.count = true, .footprints = true, .groups = {}});
    EXPECT_EQ(footprints_in_block(small.counters, {16, 1, 1}).size(), 1u);
    // Rows of 24 threads are no warps: three quarters of one, and of its footprint.
    const auto odd =
        run(*program_, memory_, "lone", {{3, 1, 1}, {24, 4, 1}}, Parameters(a.data(), c.data(), m),
            {.count = true, .footprints = true, .groups = {}});
    const auto of_odd = footprints_in_block(odd.counters, {24, 4, 1});
    ASSERT_EQ(of_odd.size(), 2u);
    EXPECT_EQ(of_odd[1].x, 24);
    EXPECT_EQ(of_odd[1].y, 1);
    EXPECT_EQ(of_odd[1].sectors * 4 / 3, of_odd[0].sectors);
}

}  // namespace
}  // namespace trimtab::emulator::test
