// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/model/performance_model.h"

namespace trimtab::tools {
namespace {

using model::Metric;

trimtab_limits two_dimensional() {
    return {.extent = {4096, 4096, 1},
            .max_block = {1024, 1024, 1},
            .max_grid = {2147483647, 65535, 65535},
            .max_threads = 1024,
            .thread_multiple = 32,
            .dividing = 0,
            .max_dynamic_shared_bytes = 0};
}

// Fits of one constant each; sectors fall with the block's width until it is a warp.
driver_gen::KernelFits fits() {
    driver_gen::KernelFits fits;
    const auto add = [&](Metric metric, std::vector<driver_gen::Monomial> numerator,
                         std::optional<driver_gen::Condition> when = {},
                         std::vector<driver_gen::Monomial> otherwise = {}) {
        driver_gen::FittedMetric fitted;
        fitted.metric = metric;
        fitted.pieces.push_back({.when = when, .numerator = std::move(numerator), .denominator = {}});
        if (when) fitted.pieces.push_back({.when = {}, .numerator = std::move(otherwise), .denominator = {}});
        fits.metrics.push_back(std::move(fitted));
    };
    fits.variables = {
        {.kind = driver_gen::VariableKind::box_x, .data = driver_gen::Variable::no_data, .unit = 0},
        {.kind = driver_gen::VariableKind::box_y, .data = driver_gen::Variable::no_data, .unit = 0},
        {.kind = driver_gen::VariableKind::warps, .data = driver_gen::Variable::no_data, .unit = 0}};
    add(Metric::warp_instructions, {{.coefficient = 1000, .exponents = {}}});
    add(Metric::load_requests, {{.coefficient = 100, .exponents = {}}});
    add(Metric::dependent_rounds, {{.coefficient = 100, .exponents = {}}});
    add(Metric::load_sectors, {{.coefficient = 12800, .exponents = {{0, -1}}}},
        driver_gen::Condition{.variable = 0, .below = 32}, {{.coefficient = 400, .exponents = {}}});
    add(Metric::load_lines, {{.coefficient = 3200, .exponents = {{0, -1}}}},
        driver_gen::Condition{.variable = 0, .below = 32}, {{.coefficient = 100, .exponents = {}}});
    add(Metric::active_warps, {{.coefficient = 1, .exponents = {{2, 1}}}});
    add(Metric::active_blocks, {{.coefficient = 4096.0 * 4096, .exponents = {{0, -1}, {1, -1}}}});
    add(Metric::footprint_sectors, {{.coefficient = 0.125, .exponents = {{0, 1}, {1, 1}}}});
    return fits;
}

TEST(LegalCandidates, AreEveryBlockOfWholeWarps) {
    const auto blocks = legal_candidates(two_dimensional(), {});
    EXPECT_EQ(blocks.size(), 464u);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const trimtab_dim3 b : blocks) {
        EXPECT_TRUE(seen.emplace(b.x, b.y).second);
        EXPECT_EQ(b.x * b.y % 32, 0u);
        EXPECT_LE(b.x * b.y, 1024u);
        EXPECT_EQ(b.z, 1u);
    }
    EXPECT_TRUE(seen.contains({96, 10}));
}

TEST(LegalCandidates, KeepTheLimits) {
    trimtab_limits limits = two_dimensional();
    limits.max_block = {1024, 1, 1};
    EXPECT_EQ(legal_candidates(limits, {}).size(), 32u);
    limits.dividing = 1;
    EXPECT_EQ(legal_candidates(limits, {}).size(), 6u);  // 32 to 1024, of 4096
    limits.max_threads = 256;
    EXPECT_EQ(legal_candidates(limits, {}).size(), 4u);
    const std::vector<trimtab_dim3> asked{{32, 1, 1}, {48, 1, 1}, {64, 2, 1}, {512, 1, 1}, {64, 1, 1}};
    const auto kept = legal_candidates(limits, asked);
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(kept[0].x, 32u);
    EXPECT_EQ(kept[1].x, 64u);
}

TEST(LegalCandidates, ReachIntoThreeDimensions) {
    trimtab_limits limits = two_dimensional();
    limits.extent = {64, 64, 64};
    limits.max_block = {1024, 1024, 64};
    const auto blocks = legal_candidates(limits, {});
    std::size_t expected = 0;
    for (std::uint32_t z = 1; z <= 64; ++z)
        for (std::uint32_t y = 1; y * z <= 1024; ++y)
            for (std::uint32_t x = 1; x * y * z <= 1024; ++x) expected += x * y * z % 32 == 0 ? 1 : 0;
    EXPECT_EQ(blocks.size(), expected);
}

class Ranking : public testing::Test {
  protected:
    std::vector<RankedBlock> rank_all() {
        const auto blocks = legal_candidates(launch_.limits, {});
        return rank(launch_, blocks);
    }
    driver_gen::KernelFits fits_ = fits();
    model::Device device_ = *model::find_device("gtx1080ti");
    RankedLaunch launch_{.program = *model::performance_model(model::default_model),
                         .device = &device_,
                         .image = {.registers_per_thread = 24,
                                   .static_shared_bytes = 0,
                                   .local_bytes_per_thread = 0,
                                   .max_threads_per_block = 0},
                         .fits = &fits_,
                         .data = {},
                         .limits = two_dimensional(),
                         .dynamic_shared_bytes = 0};
};

TEST_F(Ranking, IsInOrderAndPrefersCoalescedBlocks) {
    const auto ranking = rank_all();
    ASSERT_EQ(ranking.size(), 464u);
    // The first may be one that a tie made first.
    EXPECT_TRUE(std::ranges::is_sorted(std::span(ranking).subspan(1), {}, &RankedBlock::ns));
    EXPECT_LE(ranking[0].ns, 1.01 * ranking[1].ns);
    EXPECT_GE(ranking.front().block.x, 32u);
    EXPECT_LT(ranking.back().block.x, 4u);
    EXPECT_GT(ranking.back().ns, 2 * ranking.front().ns);
}

TEST_F(Ranking, LeavesOutWhatTheDeviceCannotLaunch) {
    launch_.image.registers_per_thread = 100;  // 1024 threads need 104 * 1024 registers
    for (const RankedBlock& ranked : rank_all()) EXPECT_LE(ranked.block.x * ranked.block.y, 640u);
    launch_.dynamic_shared_bytes = 1 << 20;
    EXPECT_TRUE(rank_all().empty());
}

TEST_F(Ranking, DecidesTiesAsTheDriverProgramsDo) {
    // No work at all: the time is the same wherever dispatch is not.
    for (auto& metric : fits_.metrics) metric.pieces = {{.when = {}, .numerator = {}, .denominator = {}}};
    launch_.limits.extent = {32, 32, 1};
    const std::vector<trimtab_dim3> blocks{{16, 4, 1}, {32, 2, 1}, {64, 1, 1}, {8, 8, 1}};
    const auto ranking = rank(launch_, blocks);
    ASSERT_EQ(ranking.size(), blocks.size());
    EXPECT_EQ(ranking.front().block.x, 32u);
    std::vector<RankedBlock> near{{{128, 2, 1}, 100},
                                  {{32, 8, 1}, 100.4},
                                  {{16, 4, 1}, 100.5},
                                  {{64, 4, 1}, 100.9},
                                  {{32, 4, 1}, 101.2}};
    decide_ties(near);
    EXPECT_EQ(near[0].block.y, 8u);  // the narrowest of whole warps; (32, 4) is no tie
    EXPECT_EQ(near[1].block.x, 128u);
    std::vector<RankedBlock> narrow{{{4, 8, 1}, 100}, {{16, 2, 1}, 100.5}, {{48, 2, 1}, 100.7}};
    decide_ties(narrow);
    EXPECT_EQ(narrow[0].block.x, 48u);
    std::vector<RankedBlock> ragged{
        {{7, 64, 1}, 100}, {{6, 64, 1}, 101}, {{8, 64, 1}, 108}, {{16, 64, 1}, 108.5}};
    decide_ties(ragged);
    EXPECT_EQ(ragged[0].block.x, 16u);
    EXPECT_EQ(ragged[1].block.x, 7u);
}

TEST_F(Ranking, GivesTheMetricsThatTheModelReads) {
    const auto metrics = metrics_of(launch_, {16, 16, 1});
    const auto value = [&](Metric metric) {
        return std::ranges::find(metrics, metric, &std::pair<Metric, double>::first)->second;
    };
    EXPECT_EQ(metrics.size(), launch_.program->metrics_used().size());
    EXPECT_EQ(value(Metric::load_sectors), 800);
    EXPECT_EQ(value(Metric::active_warps), 8);
    EXPECT_EQ(value(Metric::active_blocks), 65536);
    EXPECT_EQ(value(Metric::footprint_sectors), 32);
}

}  // namespace
}  // namespace trimtab::tools
