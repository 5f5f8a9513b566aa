// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/time_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace trimtab::model {
namespace {

constexpr PredictionError factor_of_two{.time = 0.6931471805599453, .ratio = 0.1},
    twenty_per_cent{.time = 0.1823215567939546, .ratio = 0.1}, two_per_cent{.time = 0.0198, .ratio = 0.01};

TEST(TimeText, HasTheDigitsThatItsErrorLeaves) {
    EXPECT_EQ(significant_digits(factor_of_two.time), 2);
    EXPECT_EQ(significant_digits(twenty_per_cent.time), 2);
    EXPECT_EQ(significant_digits(two_per_cent.time), 3);
    EXPECT_EQ(significant_digits(0.001), 4);
    EXPECT_EQ(time_text(1'134'567, twenty_per_cent), "1.1 ms");
    EXPECT_EQ(time_text(1'134'567, two_per_cent), "1.13 ms");
    EXPECT_EQ(time_text(539'100'000, factor_of_two), "540 ms");
    EXPECT_EQ(time_text(12'850, factor_of_two), "13 us");
    EXPECT_EQ(time_text(3'334, factor_of_two), "3.3 us");
    EXPECT_EQ(time_text(750, factor_of_two), "750 ns");
    EXPECT_EQ(time_text(1.7331e9, factor_of_two), "1.7 s");
    EXPECT_EQ(time_text(2.6e12, factor_of_two), "2600 s");
}

TEST(TimeText, RoundsIntoTheNextUnit) {
    EXPECT_EQ(time_text(996, factor_of_two), "1.0 us");
    EXPECT_EQ(time_text(994, factor_of_two), "990 ns");
    EXPECT_EQ(time_text(999'600, factor_of_two), "1.0 ms");
    EXPECT_EQ(time_text(1'000, two_per_cent), "1.00 us");
}

TEST(TimeText, BoundsAreInTheTimesUnit) {
    EXPECT_EQ(time_with_bounds(1'134'567, twenty_per_cent), "1.1 ms (0.95 to 1.4 ms)");
    EXPECT_EQ(time_with_bounds(800'000, factor_of_two), "800 us (400 to 1600 us)");
    EXPECT_EQ(time_with_bounds(2'860'000, closed_form_error), "2.9 ms (0.94 to 8.7 ms)");
}

TEST(TimeText, NumbersAreNotInPowersOfTen) {
    EXPECT_EQ(number_text(4607.131, closed_form_error.time), "4600");
    EXPECT_EQ(number_text(0.0357, closed_form_error.time), "0.036");
    EXPECT_EQ(number_text(4, closed_form_error.time), "4.0");
}

TEST(TimeText, NoTime) {
    EXPECT_EQ(time_text(0, factor_of_two), "0 ns");
    EXPECT_EQ(time_text(std::numeric_limits<double>::quiet_NaN(), factor_of_two), "unknown");
    EXPECT_EQ(time_with_bounds(std::numeric_limits<double>::infinity(), factor_of_two), "unknown");
    EXPECT_EQ(time_text(-1'500, factor_of_two), "-1.5 us");
}

}  // namespace
}  // namespace trimtab::model
