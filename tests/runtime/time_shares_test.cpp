// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/time_shares.h"

#include <gtest/gtest.h>

namespace trimtab::runtime {
namespace {

using namespace std::chrono_literals;
constexpr TimeShares::Clock::time_point start{};

// 100 s: the first kernel's first launch may take 50 of them, and none of its others comes before the second kernel.
TEST(TimeShares, LeaveOthersTheirTurn) {
    TimeShares shares(100s, start);
    ASSERT_TRUE(shares.may_begin("first", start));
    EXPECT_EQ(shares.end_of_launch(start), start + 50s);
    shares.spent("first", 50s);
    EXPECT_TRUE(shares.may_begin("first", start + 50s)) << "it is the only one";
    ASSERT_TRUE(shares.may_begin("second", start + 50s));
    EXPECT_EQ(shares.end_of_launch(start + 50s), start + 75s);
    shares.spent("second", 5s);
    EXPECT_FALSE(shares.may_begin("first", start + 55s)) << "50 s are more than half of 45";
    EXPECT_TRUE(shares.may_begin("second", start + 55s));
    shares.spent("second", 25s);
    EXPECT_FALSE(shares.may_begin("second", start + 80s)) << "30 s are more than half of 20";
    EXPECT_TRUE(shares.may_begin("third", start + 99s));
    EXPECT_FALSE(shares.may_begin("fourth", start + 100s));
    EXPECT_TRUE(shares.is_over(start + 100s));
}

TEST(TimeShares, WithoutAnEnd) {
    TimeShares shares(0s, start);
    ASSERT_TRUE(shares.may_begin("kernel", start));
    shares.spent("kernel", 10h);
    EXPECT_TRUE(shares.may_begin("kernel", start + 10h));
    EXPECT_FALSE(shares.is_over(start + 1000h));
    EXPECT_GT(shares.end_of_launch(start), start + 1000h);
}

}  // namespace
}  // namespace trimtab::runtime
