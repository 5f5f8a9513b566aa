// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of a prediction that is uncertain.
#include "choosing/choices/doubt_text.h"

#include <gmock/gmock.h>

#include <vector>

namespace trimtab::choosing {
namespace {

constexpr const char* data_names[]{"tokens", "mode", "extent.x"};
constexpr const char* metric_names[]{"load_requests", "active_blocks"};
constexpr double least[]{64, 1, 4096}, most[]{256, 1, 65536};

trimtab_driver driver() {
    trimtab_driver driver{};
    driver.struct_bytes = sizeof driver;
    driver.data_count = 3;
    driver.metric_count = 2;
    driver.data_names = data_names;
    driver.metric_names = metric_names;
    driver.profiled_least = least;
    driver.profiled_most = most;
    return driver;
}

std::string text(std::uint32_t doubt, const std::vector<double>& data = {128, 1, 16384}) {
    return doubt_text(driver(), data, doubt);
}

TEST(DoubtText, NamesTheCountAndTheSizesThatLieOutside) {
    constexpr std::uint32_t below = TRIMTAB_DOUBT(TRIMTAB_DOUBT_NO_COUNT, 1);
    EXPECT_EQ(text(below), "active_blocks comes out below 0");
    EXPECT_EQ(text(below, {16, 1, 256}),
              "active_blocks comes out below 0 (tokens is below 64, the least that was profiled)");
    EXPECT_EQ(text(below, {128, 1, 1 << 20}),
              "active_blocks comes out below 0 (extent.x is above 65536, the most that was profiled)");
    EXPECT_EQ(text(TRIMTAB_DOUBT(TRIMTAB_DOUBT_ERROR, 0), {512, 1, 1 << 20}),
              "load_requests is known too roughly (tokens is above 256, the most that was profiled)");
    EXPECT_EQ(text(TRIMTAB_DOUBT(TRIMTAB_DOUBT_RIVALS, 0)),
              "load_requests may be 0 or not, as far as the profile tells");
}

TEST(DoubtText, NamesTheValue) {
    EXPECT_EQ(text(TRIMTAB_DOUBT(TRIMTAB_DOUBT_OTHER_VALUE, 1), {128, 2, 16384}),
              "mode has a value that was not profiled (profiled at 1 alone)");
    EXPECT_EQ(text(TRIMTAB_DOUBT(TRIMTAB_DOUBT_TOO_SMALL, 0), {-3, 1, 16384}), "tokens is below 0");
    EXPECT_EQ(text(TRIMTAB_DOUBT(TRIMTAB_DOUBT_TOO_SMALL, 0), {3, 1, 16384}),
              "tokens is below 64, the least stride that was profiled");
    EXPECT_EQ(text(TRIMTAB_DOUBT(TRIMTAB_DOUBT_NUMBER, 0)),
              "how much is done depends on tokens, profiled from 64 to 256");
    EXPECT_EQ(text(TRIMTAB_DOUBT(TRIMTAB_DOUBT_ARRAYS, 0)), "load_requests depends on what the arrays hold");
}

TEST(DoubtText, DriverProgramsOfEarlierBuildsSayLess) {
    trimtab_driver old = driver();
    old.struct_bytes = offsetof(trimtab_driver, profiled_least);
    old.profiled_least = old.profiled_most = nullptr;
    const std::vector<double> data{16, 2, 256};
    EXPECT_EQ(doubt_text(old, data, TRIMTAB_DOUBT_UNTOLD), "");
    EXPECT_EQ(doubt_text(old, data, TRIMTAB_DOUBT(TRIMTAB_DOUBT_NO_COUNT, 1)),
              "active_blocks comes out below 0");
    EXPECT_EQ(doubt_text(old, data, TRIMTAB_DOUBT(TRIMTAB_DOUBT_OTHER_VALUE, 1)),
              "mode has a value that was not profiled");
    // Places that are none.
    EXPECT_EQ(doubt_text(old, data, TRIMTAB_DOUBT(TRIMTAB_DOUBT_NO_COUNT, 9)), "a count comes out below 0");
    EXPECT_EQ(doubt_text(old, data, TRIMTAB_DOUBT(TRIMTAB_DOUBT_OTHER_VALUE, 9)),
              "a value has a value that was not profiled");
}

TEST(DoubtText, AdviceIsGivenWhereThereIsSome) {
    EXPECT_THAT(doubt_advice(TRIMTAB_DOUBT_UNTOLD), ::testing::HasSubstr("trimtab profile -- PROGRAM"));
    EXPECT_EQ(doubt_advice(TRIMTAB_DOUBT_IDLE), "");
    EXPECT_EQ(doubt_advice(0), "");
}

}  // namespace
}  // namespace trimtab::choosing
