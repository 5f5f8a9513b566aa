// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits of functions that are known.
#include "driver_gen/fit_metric.h"

#include <gmock/gmock.h>

#include <cmath>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>

namespace trimtab::driver_gen {
namespace {

using model::Metric;
using Function = std::function<double(double n, double m, double x, double y)>;

class FitMetric : public ::testing::Test {
  protected:
    FitMetric() {
        ranges_.end[0].terms = {{0, 1}};
        ranges_.end[1].terms = {{1, 1}};
        ranges_.end[2].constant = 1;
        variables_of_fit_.data = {0, 1};
        variables_of_fit_.dimensions = {true, true, false};
        variables_of_fit_.element_bytes = {4};
    }

    // Points as a plan makes them: small sizes, 256 held out.
    FittedMetric fit(Metric metric, const Function& function) {
        points_.clear();
        data_.clear();
        variables_.clear();
        int counted = 0;
        for (const auto& [n, m] : {std::pair{64., 64.},
                                   {128., 128.},
                                   {96., 64.},
                                   {64., 192.},
                                   {100., 64.},
                                   {64., 146.},
                                   {199., 128.},
                                   {92., 199.},
                                   {64., 93.},
                                   {256., 256.},
                                   {250., 250.}})
            for (const auto& [x, y] : blocks_) {
                data_.push_back({n, m});
                points_.push_back({.data = data_.back(),
                                   .box = {x, y, 1},
                                   .value = function(n, m, x, y),
                                   .held_out = n >= 250 || ++counted % 6 == 0});
            }
        const FittedMetric fitted = fit_metric(metric, points_, variables_of_fit_, ranges_, variables_);
        fits_ = {};
        fits_.data_names = {"n", "m"};
        fits_.profiled = {{64, 256, true}, {64, 256, true}};
        fits_.ranges = ranges_;
        fits_.variables = variables_;
        fits_.metrics = {fitted};
        return fitted;
    }
    // The largest relative error far outside the points.
    double error_far_away(Metric metric, const Function& function) const {
        double worst = 0;
        for (const double n : {1000., 2048., 16384.})
            for (const double m : {512., 4095.})
                for (const auto& [x, y] : blocks_) {
                    const double expected = function(n, m, x, y);
                    const double found = fits_.evaluate(metric, std::vector<double>{n, m}, x, y, 1);
                    worst = std::max(worst, std::abs(found - expected) / std::max(std::abs(expected), 1e-9));
                }
        return worst;
    }

    std::vector<std::pair<double, double>> blocks_{{32, 8}, {16, 16}, {8, 32},  {64, 4}, {1, 32}, {128, 1},
                                                   {4, 8},  {32, 32}, {256, 4}, {2, 64}, {16, 4}, {512, 1}};
    IndexRanges ranges_;
    FitVariables variables_of_fit_;
    std::deque<std::vector<double>> data_;
    std::vector<FitPoint> points_;
    std::vector<Variable> variables_;
    KernelFits fits_;
};

TEST_F(FitMetric, AConstantIsThatConstant) {
    const FittedMetric fitted = fit(Metric::load_requests, [](auto...) { return 0.1; });
    EXPECT_EQ(fitted.form, Form::constant);
    EXPECT_TRUE(fitted.exact);
    EXPECT_EQ(fits_.evaluate(Metric::load_requests, std::vector<double>{1e6, 1}, 5, 7, 1), 0.1);
    EXPECT_TRUE(fit(Metric::load_requests, [](auto...) { return 0.0; }).pieces[0].numerator.empty());
}

TEST_F(FitMetric, ATripCountIsExact) {
    const FittedMetric fitted =
        fit(Metric::load_requests, [](double n, double m, double, double) { return 2 * m + 3 * n + 1; });
    EXPECT_TRUE(fitted.exact);
    EXPECT_EQ(fitted.form, Form::polynomial);
    EXPECT_EQ(to_text(fitted.pieces[0].numerator, fits_), "3 n + 2 m + 1");
    EXPECT_EQ(fits_.evaluate(Metric::load_requests, std::vector<double>{10000, 20000}, 32, 8, 1), 70001);
}

// Instructions of a loop and around it over its steps: a quotient of two sums, unless that is left out.
TEST_F(FitMetric, ARatioIsAQuotientWhereThatIsAllowed) {
    const Function function = [](double, double m, double, double) { return (30 * m + 200) / (4 * m + 100); };
    EXPECT_EQ(fit(Metric::instruction_parallelism, function).form, Form::rational);
    EXPECT_LT(error_far_away(Metric::instruction_parallelism, function), 1e-9);
    variables_of_fit_.quotients = false;
    const FittedMetric plain = fit(Metric::instruction_parallelism, function);
    EXPECT_NE(plain.form, Form::rational);
    EXPECT_TRUE(plain.pieces[0].denominator.empty());
    EXPECT_GT(error_far_away(Metric::instruction_parallelism, function), 1e-4);
}

TEST_F(FitMetric, NestedLoopsAreExact) {
    const Function function = [](double n, double m, double, double) { return n * m * m + 4 * m + 7; };
    EXPECT_TRUE(fit(Metric::fp32_instructions, function).exact);
    EXPECT_LT(error_far_away(Metric::fp32_instructions, function), 1e-12);
}

TEST_F(FitMetric, AnUnrolledLoopIsExact) {
    const Function function = [](double, double m, double, double) {
        const double left = std::fmod(m, 4);
        return 45 + 30 * std::floor(m / 4) + 12 * left + (left > 0 ? 5 : 0);
    };
    EXPECT_TRUE(fit(Metric::warp_instructions, function).exact);
    EXPECT_LT(error_far_away(Metric::warp_instructions, function), 1e-12);
}

TEST_F(FitMetric, WarpsOfNarrowBlocksMeetRows) {
    // A matrix product's sectors: a row of B, the rows of A that the warp meets.
    const Function function = [](double, double m, double x, double) {
        return m * (std::max(1.0, std::min(x, 32.0) / 8) + std::max(1.0, 32 / x));
    };
    variables_of_fit_.data_terms = {{}, {{1, 1}}};
    const FittedMetric fitted = fit(Metric::load_sectors, [&](double n, double m, double x, double y) {
        return n >= 250 && n != 256 ? function(n, m, x, y) : function(n, m, x, y);
    });
    EXPECT_LT(fitted.quality.held_out_max_error, 0.02);
    EXPECT_LT(error_far_away(Metric::load_sectors, function), 0.02);
}

TEST_F(FitMetric, AQuotientIsFoundAndItsDenominatorHasNoZero) {
    // Mean lanes of warps of which some do a short prologue alone.
    const Function function = [](double n, double, double x, double) {
        return (31 * n + 4 * std::min(x, 32.0)) / (n + 0.5 * std::min(x, 32.0) + 40);
    };
    const FittedMetric fitted = fit(Metric::instruction_parallelism, function);
    EXPECT_LT(fitted.quality.held_out_max_error, 0.05);
    EXPECT_LT(error_far_away(Metric::instruction_parallelism, function), 0.1);
    for (const Piece& piece : fitted.pieces)
        for (const Monomial& monomial : piece.denominator) {
            EXPECT_GE(monomial.coefficient, 0);
            for (const auto& [variable, power] : monomial.exponents) EXPECT_GT(power, 0);
        }
}

TEST_F(FitMetric, AFunctionWithAPoleGetsNoDenominator) {
    const Function function = [](double n, double, double, double) { return 1 + 1000 / std::abs(n - 120.5); };
    for (const Metric metric : {Metric::instruction_parallelism, Metric::active_lanes})
        for (const Piece& piece : fit(metric, function).pieces)
            for (const Monomial& monomial : piece.denominator) EXPECT_GE(monomial.coefficient, 0);
}

TEST_F(FitMetric, DecisionNodesWhereTheFunctionBreaks) {
    for (const double x : {3, 5, 6, 7, 9, 12, 14, 20, 28}) blocks_.emplace_back(x, 32);
    const Function function = [](double, double m, double x, double) { return x < 8 ? 20 * m : 3 * m + 2; };
    variables_of_fit_.data_terms = {{}, {{1, 1}}};
    const FittedMetric fitted = fit(Metric::load_sectors, function);
    EXPECT_TRUE(fitted.exact);
    ASSERT_EQ(fitted.pieces.size(), 2u);
    EXPECT_EQ(fitted.pieces[0].when->below, 8);
    EXPECT_LT(error_far_away(Metric::load_sectors, function), 1e-12);
}

TEST_F(FitMetric, NoiseDoesNotBreedTerms) {
    std::uint32_t state = 1;
    const auto noise = [&] {
        state = state * 1664525 + 1013904223;
        return 1 + 0.02 * (static_cast<double>(state >> 8) / (1 << 24) - 0.5);
    };
    const Function truth = [](double, double m, double, double) { return 12 * m; };
    const FittedMetric fitted = fit(Metric::load_requests, [&](double n, double m, double x, double y) {
        return truth(n, m, x, y) * noise();
    });
    EXPECT_FALSE(fitted.exact);
    EXPECT_LE(fitted.pieces[0].numerator.size(), 2u);
    EXPECT_LT(error_far_away(Metric::load_requests, truth), 0.02);
    EXPECT_GT(fitted.quality.held_out_max_error, 0.001);
    EXPECT_LT(fitted.quality.held_out_max_error, 0.02);
}

TEST_F(FitMetric, ValuesStayInTheMetricsRange) {
    const FittedMetric fitted =
        fit(Metric::active_lanes, [](double n, double, double, double) { return 32 - 600 / n; });
    EXPECT_EQ(fitted.least, 1);
    EXPECT_EQ(fitted.most, 32);
    EXPECT_GE(fits_.evaluate(Metric::active_lanes, std::vector<double>{2, 2}, 32, 8, 1), 1);
    EXPECT_LE(fits_.evaluate(Metric::active_lanes, std::vector<double>{1e9, 2}, 32, 8, 1), 32);
    fit(Metric::load_requests, [](double n, double, double, double) { return n - 60; });
    EXPECT_EQ(fits_.evaluate(Metric::load_requests, std::vector<double>{1, 2}, 32, 8, 1), 0);
}

TEST_F(FitMetric, FewPointsStillGiveAFit) {
    data_ = {{64, 64}, {128, 128}};
    points_ = {{.data = data_[0], .box = {32, 1, 1}, .value = 5, .held_out = false},
               {.data = data_[1], .box = {32, 1, 1}, .value = 9, .held_out = true}};
    const FittedMetric fitted =
        fit_metric(Metric::load_requests, points_, variables_of_fit_, ranges_, variables_);
    ASSERT_FALSE(fitted.pieces.empty());
    EXPECT_GT(fitted.quality.held_out_max_error, 0);
}

TEST_F(FitMetric, WhatTellsThePointsAsWellIsARival) {
    // Exactly met by one form: the others are out.
    EXPECT_TRUE(fit(Metric::load_requests, [](double n, double m, double, double) {
                    return 2 * m + n;
                }).rivals.empty());
    // Met by several to a part of a per cent, by none exactly.
    const FittedMetric fitted = fit(Metric::warp_instructions, [](double n, double m, double, double) {
        return 26 - std::round(100 * m / (n + m)) / 100;
    });
    ASSERT_FALSE(fitted.exact);
    ASSERT_FALSE(fitted.rivals.empty());
    for (const std::vector<Piece>& rival : fitted.rivals) {
        EXPECT_NE(rival, fitted.pieces);
        for (const FitPoint& point : points_) {
            const double value = fits_.fitted(rival, point.data, point.box[0], point.box[1], 1);
            EXPECT_NEAR(value / point.value, 1, 0.02);
        }
    }
    EXPECT_EQ(fits_from_json(to_json(fits_), "k").value(), fits_);
}

}  // namespace
}  // namespace trimtab::driver_gen
