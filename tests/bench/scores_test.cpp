// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/scores.h"

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace trimtab::bench {
namespace {

TEST(Summary, OfChoicesWorkedByHand) {
    // 1, 0.5, 0.25 and 0.8: the product is 0.1.
    const std::vector<Scored> scores{{.efficiency = 1, .best_ms = 1},
                                     {.efficiency = 0.5, .best_ms = 0.051},
                                     {.efficiency = 0.25, .best_ms = 0.05},
                                     {.efficiency = 0.8, .best_ms = 3}};
    const Summary summary = summarise(scores);
    EXPECT_EQ(summary.n, 4u);
    EXPECT_NEAR(summary.geomean, 0.5623413251903491, 1e-12);
    EXPECT_DOUBLE_EQ(summary.median, 0.65);
    EXPECT_DOUBLE_EQ(summary.p10, 0.25);
    EXPECT_DOUBLE_EQ(summary.min, 0.25);
    EXPECT_DOUBLE_EQ(summary.min_above_50us, 0.5);  // 0.25 is of a case of just 50 us
    EXPECT_DOUBLE_EQ(summary.share95, 0.25);
}

TEST(Summary, TenthPercentileOfTwentyIsTheThirdLeast) {
    std::vector<Scored> scores;
    for (int i = 20; i >= 1; --i) scores.push_back({.efficiency = i / 20.0, .best_ms = 1});
    EXPECT_DOUBLE_EQ(summarise(scores).p10, 3 / 20.0);
}

TEST(Summary, OfNothingIsEmpty) {
    EXPECT_EQ(summarise({}).n, 0u);
}

TEST(Spearman, OrdersNotValuesMatter) {
    const std::array<double, 4> times{1, 2, 3, 4}, squares{1, 4, 9, 16}, falling{4, 3, 2, 1};
    EXPECT_DOUBLE_EQ(spearman(times, squares), 1);
    EXPECT_DOUBLE_EQ(spearman(times, falling), -1);
}

TEST(Spearman, TiesShareTheirMeanRank) {
    // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5.
    const std::array<double, 4> tied{1, 2, 2, 3}, plain{1, 2, 3, 4};
    EXPECT_NEAR(spearman(tied, plain), 4.5 / 4.743416490252569, 1e-12);
    const std::array<double, 4> constant{1, 1, 1, 1};
    EXPECT_DOUBLE_EQ(spearman(constant, plain), 0);
    EXPECT_DOUBLE_EQ(spearman(std::array<double, 1>{1}, std::array<double, 1>{1}), 0);
}

}  // namespace
}  // namespace trimtab::bench
