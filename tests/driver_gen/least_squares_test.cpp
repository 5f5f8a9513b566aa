// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trimtab::driver_gen {
namespace {

Matrix columns(std::initializer_list<std::vector<double>> list) {
    Matrix m(list.begin()->size(), list.size());
    std::size_t c = 0;
    for (const auto& values : list) std::ranges::copy(values, m.column(c++).begin());
    return m;
}

TEST(LeastSquares, FindsALine) {
    const Matrix m = columns({{1, 1, 1, 1}, {1, 2, 3, 4}});
    const auto found = solve(m, std::vector<double>{6, 5, 7, 10});  // the textbook's 3.5 + 1.4 x
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->coefficients[0], 3.5, 1e-12);
    EXPECT_NEAR(found->coefficients[1], 1.4, 1e-12);
    EXPECT_EQ(found->rank, 2u);
}

TEST(LeastSquares, ColumnsOfAnySizeAreTheSameProblem) {
    std::vector<double> x, cubes, y;
    for (double n = 64; n <= 256; n += 16) {
        x.push_back(n);
        cubes.push_back(n * n * n * 1e100);
        y.push_back(3 * n + 1e-5 * n * n * n);
    }
    const auto found = solve(columns({x, cubes}), y);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->coefficients[0], 3, 1e-9);
    EXPECT_NEAR(found->coefficients[1] * 1e105, 1, 1e-9);
    EXPECT_LT(found->condition, 100);
}

TEST(LeastSquares, DependentColumnsShareAndDoNotExplode) {
    std::vector<double> a, b, y;
    for (int i = 0; i < 20; ++i) {
        a.push_back(1 + i);
        b.push_back(2 * (1 + i) * (1 + 1e-15 * i));
        y.push_back(10.0 * (1 + i));
    }
    const auto found = solve(columns({a, b}), y);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rank, 1u);
    EXPECT_GT(found->condition, 1e11);
    EXPECT_NEAR(found->coefficients[0], 5, 1e-6);
    EXPECT_NEAR(found->coefficients[1], 2.5, 1e-6);
}

TEST(LeastSquares, AVandermondeMatrixIsSolved) {
    // Degree 7 over 64 to 256: normal equations would square a condition of 1e8.
    Matrix m(40, 8);
    std::vector<double> y(40, 0);
    for (std::size_t r = 0; r < 40; ++r) {
        const double n = 64 + 192.0 * static_cast<double>(r) / 39;
        for (std::size_t c = 0; c < 8; ++c) {
            m.column(c)[r] = std::pow(n, static_cast<double>(c));
            y[r] += m.column(c)[r] / std::pow(100, static_cast<double>(c));
        }
    }
    const auto found = solve(m, y, 1e-15);
    ASSERT_TRUE(found);
    EXPECT_GT(found->condition, 1e6);
    for (std::size_t r = 0; r < 40; ++r) {
        double value = 0;
        for (std::size_t c = 0; c < 8; ++c) value += found->coefficients[c] * m.column(c)[r];
        EXPECT_NEAR(value / y[r], 1, 1e-10);
    }
}

TEST(LeastSquares, FewerRowsThanColumnsAndZeroColumns) {
    const auto wide = solve(columns({{1}, {1}}), std::vector<double>{4});
    ASSERT_TRUE(wide);
    EXPECT_NEAR(wide->coefficients[0] + wide->coefficients[1], 4, 1e-12);
    const auto zero = solve(columns({{0, 0}, {1, 2}}), std::vector<double>{3, 6});
    ASSERT_TRUE(zero);
    EXPECT_EQ(zero->coefficients[0], 0);
    EXPECT_NEAR(zero->coefficients[1], 3, 1e-12);
    EXPECT_TRUE(solve(Matrix(3, 0), std::vector<double>{1, 2, 3})->coefficients.empty());
}

TEST(LeastSquares, WhatIsNoNumberIsRefused) {
    EXPECT_FALSE(solve(columns({{1, std::nan("")}}), std::vector<double>{1, 2}));
    EXPECT_FALSE(solve(columns({{1, 2}}), std::vector<double>{1, std::numeric_limits<double>::infinity()}));
}

}  // namespace
}  // namespace trimtab::driver_gen
