// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// select() against trying every legal block.
#include <gtest/gtest.h>

#include <set>

#include "compiled_driver.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/device.h"
#include "driver_gen/c_driver.h"

namespace trimtab::driver_gen {
namespace {

using model::Metric;
using testing::CompiledDriver;

// Time is what the fit of one metric says of the block; no block fails to launch.
// At least so much for each thread in x.
model::RationalProgram metric_time(Metric metric, double least_a_thread = 0) {
    model::RationalProgramBuilder b("metric");
    const model::Value x = b.input("block.x"),
                       time = b.metric(metric, x, b.input("block.y"), b.input("block.z"));
    return std::move(b).finish(max(time, b.constant(least_a_thread, "") * x), b.constant(0, ""));
}

struct Terrain {
    std::vector<Monomial> time;  // over x, y, z, warps, boxes
};

class Search {
  public:
    struct Doubts {
        double error = 0;              // of the fit
        bool depends_on_data = false;  // the metric
        bool has_number = false;       // one that was profiled from 0 to 1 and is 5 in all launches
        double least_a_thread = 0;
    };
    Search(const Terrain& terrain, std::array<bool, 3> dimensions, double error = 0)
        : Search(terrain, dimensions, Doubts{.error = error}) {}
    Search(const Terrain& terrain, std::array<bool, 3> dimensions, const Doubts& doubts) {
        analysis::KernelDescription description;
        description.id = "00000000000000aa";
        description.name = "k";
        for (std::size_t d = 0; d < 3; ++d)
            if (dimensions[d]) description.dimensions[d].index = analysis::Index::global;
        KernelFits fits;
        for (int d = 0; d < 3; ++d) {
            description.data.push_back({.name = std::string("extent.") + "xyz"[d],
                                        .is_extent = true,
                                        .dimension = static_cast<analysis::Dimension>(d),
                                        .type = "u32",
                                        .bounds = {}});
            fits.data_names.push_back(description.data.back().name);
            fits.profiled.push_back({1, 256, true});
            fits.ranges.end[d].terms = {{d, 1}};
            fits.ranges.extent[d] = d;
        }
        if (doubts.has_number) {
            description.data.push_back({.name = "limit", .type = "f32", .bounds = {}});
            fits.data_names.emplace_back("limit");
            fits.profiled.push_back({.least = 0, .most = 1, .varied = false, .is_number = true});
        }
        fits.variables = {{.kind = VariableKind::box_x},
                          {.kind = VariableKind::box_y},
                          {.kind = VariableKind::box_z},
                          {.kind = VariableKind::warps},
                          {.kind = VariableKind::boxes}};
        FittedMetric fit;
        fit.metric = Metric::warp_instructions;
        fit.pieces = {{.when = {}, .numerator = terrain.time, .denominator = {}}};
        fit.quality.held_out_max_error = doubts.error;
        fit.data_dependent = doubts.depends_on_data;
        fits.metrics = {fit};
        const auto text =
            print_driver(description, fits, metric_time(Metric::warp_instructions, doubts.least_a_thread));
        compiled_.emplace(text.value(), description.id, "clang-22");
    }

    std::vector<trimtab_choice> select(const trimtab_limits& limits, std::uint32_t k) const {
        std::vector<trimtab_choice> out(k);
        const double data[] = {double(limits.extent.x), double(limits.extent.y), double(limits.extent.z), 5};
        const int count =
            compiled_->driver()->select(&device_.values, &image_, data, &limits, 0, k, out.data());
        EXPECT_GE(count, 0);
        out.resize(count > 0 ? count : 0);
        return out;
    }
    bool keeps_order(const trimtab_limits& limits, trimtab_dim3 first, trimtab_dim3 second) const {
        const double data[] = {double(limits.extent.x), double(limits.extent.y), double(limits.extent.z), 5};
        const trimtab_asked one{data, first, 0}, other{data, second, 0};
        const int answer = compiled_->driver()->keeps_order(&device_.values, &image_, &one, &other);
        EXPECT_GE(answer, 0);
        return answer == 1;
    }
    double time(const trimtab_limits& limits, trimtab_dim3 block) const {
        const double data[] = {double(limits.extent.x), double(limits.extent.y), double(limits.extent.z), 5};
        trimtab_prediction out{};
        EXPECT_EQ(compiled_->driver()->evaluate(&device_.values, &image_, data, block, 0, &out), 0);
        return out.predicted_ns;
    }
    double best_of_all(const trimtab_limits& limits) const {
        double best = 1e300;
        for (std::uint32_t x = 1; x <= limits.max_block.x; ++x)
            for (std::uint32_t y = 1; y <= limits.max_block.y && x * y <= limits.max_threads; ++y)
                for (std::uint32_t z = 1; z <= limits.max_block.z && x * y * z <= limits.max_threads; ++z)
                    if (const trimtab_dim3 block{x, y, z}; analysis::is_legal(limits, block))
                        best = std::min(best, time(limits, block));
        return best;
    }

  private:
    std::optional<CompiledDriver> compiled_;
    model::Device device_ = *model::find_device("rtx2080ti");
    trimtab_image image_{};
};

trimtab_limits limits_of(trimtab_dim3 extent, trimtab_dim3 max_block) {
    return {.extent = extent,
            .max_block = max_block,
            .max_grid = {2147483647, 65535, 65535},
            .max_threads = 1024,
            .thread_multiple = 32,
            .dividing = 0,
            .max_dynamic_shared_bytes = 0};
}

Monomial term(double coefficient, std::vector<std::pair<std::uint32_t, std::int32_t>> exponents) {
    return {.coefficient = coefficient, .exponents = std::move(exponents)};
}

// Narrow blocks cost rows, wide ones a ragged edge: the best is in the middle.
const Terrain valley{{term(3000, {{0, -1}}), term(500, {{1, -1}}), term(2, {{0, 1}}), term(5, {{1, 1}}),
                      term(40, {{3, 1}}), term(0.001, {{4, 1}})}};

TEST(BlockSearch, ComesNearTheBestOfEveryLegalBlock) {
    const Search search(valley, {true, true, true});
    for (trimtab_limits limits :
         {limits_of({4096, 1, 1}, {1024, 1, 1}), limits_of({1000, 700, 1}, {1024, 1024, 1}),
          limits_of({100, 70, 30}, {1024, 1024, 64}), limits_of({5000, 3, 1}, {1024, 1024, 1})})
        for (const std::uint32_t dividing : {0u, 1u, 3u}) {
            limits.dividing = dividing;
            const double best = search.best_of_all(limits);
            if (best == 1e300) continue;
            const auto found = search.select(limits, 1);
            ASSERT_EQ(found.size(), 1u);
            SCOPED_TRACE(::testing::Message()
                         << limits.extent.x << "," << limits.extent.y << "," << limits.extent.z
                         << " dividing " << dividing << " chosen " << found[0].block.x << ","
                         << found[0].block.y << "," << found[0].block.z);
            EXPECT_LE(found[0].predicted_ns, 1.06 * best);
        }
}

TEST(BlockSearch, EveryChoiceIsLegalAndInOrder) {
    const Search search(valley, {true, true, true});
    trimtab_limits limits = limits_of({96, 77, 9}, {512, 256, 4});
    limits.dividing = 2;
    limits.max_threads = 512;
    limits.thread_multiple = 1;
    limits.max_grid = {2, 77, 9};
    const auto choices = search.select(limits, 40);
    ASSERT_GT(choices.size(), 10u);
    std::set<std::array<std::uint32_t, 3>> distinct;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const trimtab_dim3 block = choices[i].block;
        EXPECT_TRUE(analysis::is_legal(limits, block)) << block.x << "," << block.y << "," << block.z;
        const trimtab_dim3 grid = analysis::covering_grid(limits, block);
        EXPECT_EQ(choices[i].grid.x, grid.x);
        EXPECT_EQ(choices[i].grid.y, grid.y);
        EXPECT_EQ(choices[i].grid.z, grid.z);
        EXPECT_EQ(choices[i].predicted_ns, search.time(limits, block));
        if (i > 0) EXPECT_LE(choices[i - 1].predicted_ns, choices[i].predicted_ns);
        distinct.insert({block.x, block.y, block.z});
    }
    EXPECT_EQ(distinct.size(), choices.size());
}

TEST(BlockSearch, EqualTimesGoToShortRowsOfWholeWarpsAWarpForEachScheduler) {
    const Search search({{term(7, {})}}, {true, true, false});
    const auto choices = search.select(limits_of({512, 512, 1}, {1024, 1024, 1}), 8);
    ASSERT_EQ(choices.size(), 8u);
    EXPECT_EQ(choices[0].block.x, 32u);
    EXPECT_EQ(choices[0].block.y, 4u);
    // The others: fewer threads, then the wider block.
    EXPECT_EQ(choices[1].block.x, 32u);
    EXPECT_EQ(choices[1].block.y, 1u);
    EXPECT_EQ(choices[2].block.x, 16u);
    EXPECT_EQ(choices[2].block.y, 2u);
}

TEST(BlockSearch, NothingLegalIsNoChoice) {
    const Search search(valley, {true, false, false});
    trimtab_limits limits = limits_of({1001, 1, 1}, {1024, 1, 1});
    limits.dividing = 1;  // 1001 = 7 * 11 * 13: no whole warps
    EXPECT_TRUE(search.select(limits, 4).empty());
    limits.thread_multiple = 1;
    const auto choices = search.select(limits, 40);
    EXPECT_FALSE(choices.empty());
    for (const trimtab_choice& choice : choices) EXPECT_EQ(1001 % choice.block.x, 0u);
}

TEST(BlockSearch, ErrorsOfTheFitsReachThePrediction) {
    const Search exact(valley, {true, true, false}), rough(valley, {true, true, false}, 0.2),
        hopeless(valley, {true, true, false}, 3);
    const trimtab_limits limits = limits_of({512, 512, 1}, {1024, 1024, 1});
    EXPECT_EQ(exact.select(limits, 1)[0].relative_error, 0);
    EXPECT_EQ(exact.select(limits, 1)[0].uncertain, 0u);
    EXPECT_NEAR(rough.select(limits, 1)[0].relative_error, 0.2, 1e-12);
    EXPECT_EQ(rough.select(limits, 1)[0].uncertain, 0u);
    EXPECT_NE(hopeless.select(limits, 1)[0].uncertain, 0u);
}

// What nobody knows of the data makes the time uncertain, and the choice where it may turn the order of blocks round.
TEST(BlockSearch, WhatTheDataDecidesMayTurnTheOrderRound) {
    const trimtab_limits limits = limits_of({512, 1, 1}, {1024, 1, 1});
    const auto is_uncertain = [&](const Search& search) { return search.select(limits, 1)[0].uncertain; };
    const trimtab_dim3 narrow{64, 1, 1}, wide{256, 1, 1};
    const Terrain flat{{term(7000, {})}}, falling{{term(7000, {}), term(-20, {{0, 1}})}};
    for (const Search::Doubts& doubts :
         {Search::Doubts{.depends_on_data = true}, Search::Doubts{.has_number = true}}) {
        const Search all_alike(flat, {true, false, false}, doubts);
        EXPECT_NE(is_uncertain(all_alike), 0u);
        EXPECT_TRUE(all_alike.keeps_order(limits, narrow, wide));
        EXPECT_TRUE(all_alike.keeps_order(limits, wide, narrow));
        // Blocks of 64 threads take as long as the metric says, 5720, and eight times as long where there is more. Those
        // of 256 take 6400, for they take at least 25 a thread, and then eight times 1880.
        Search::Doubts with_least = doubts;
        with_least.least_a_thread = 25;
        const Search parting(falling, {true, false, false}, with_least);
        EXPECT_NE(is_uncertain(parting), 0u);
        EXPECT_FALSE(parting.keeps_order(limits, narrow, wide));
        EXPECT_TRUE(parting.keeps_order(limits, narrow, narrow));
    }
    const Search certain(falling, {true, false, false}, {.least_a_thread = 25});
    EXPECT_EQ(is_uncertain(certain), 0u);
    EXPECT_TRUE(certain.keeps_order(limits, narrow, wide));
}

}  // namespace
}  // namespace trimtab::driver_gen
