// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What closed form and emulation decide together, at both sides of their errors.
#include "choosing/crosscheck/verdict.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/model/prediction_error.h"

namespace trimtab::choosing {
namespace {

using ::testing::HasSubstr;

CheckedLaunch launch(std::uint32_t width, double predicted_ns, double emulated_ns, double error = 0) {
    return {.launch = {.grid = {1, 1, 1}, .block = {width, 1, 1}, .dynamic_shared_bytes = 0},
            .predicted_ns = predicted_ns,
            .relative_error = error,
            .emulated_ns = emulated_ns};
}

// Times that are just within or beyond the errors.
const double emulated_within = 100 * std::exp(-0.98 * model::emulation_error.ratio);
const double emulated_beyond = 100 * std::exp(-1.02 * model::emulation_error.ratio);
const double predicted_within = 100 * std::exp(0.98 * model::closed_form_error.ratio);
const double predicted_beyond = 100 * std::exp(1.02 * model::closed_form_error.ratio);

TEST(Verdict, BothAgree) {
    const auto outcome = judge({launch(128, 100, 50), launch(64, 110, 60), launch(32, 200, 90)}, 2, 0.005);
    EXPECT_EQ(outcome.end, CheckEnd::confirmed);
    EXPECT_EQ(outcome.chosen, 0u);
    EXPECT_THAT(outcome.why, HasSubstr("no other faster"));
    EXPECT_EQ(outcome.launches.size(), 3u);
}

TEST(Verdict, AGainWithinTheErrorOfTheEmulationIsNone) {
    const auto outcome =
        judge({launch(128, 100, 100), launch(64, 101, emulated_within), launch(32, 300, 300)}, 2, 0.005);
    EXPECT_EQ(outcome.end, CheckEnd::confirmed);
    EXPECT_THAT(outcome.why, HasSubstr("64x1x1"));
    EXPECT_THAT(outcome.why, HasSubstr("within its error"));
}

TEST(Verdict, AGainBeyondTheErrorsChangesTheChoice) {
    const auto outcome =
        judge({launch(128, 100, 100), launch(64, predicted_within, emulated_beyond), launch(32, 300, 300)}, 2,
              0.005);
    EXPECT_EQ(outcome.end, CheckEnd::changed);
    EXPECT_EQ(outcome.chosen, 1u);
    EXPECT_THAT(outcome.why, HasSubstr("64x1x1"));
}

// The closed form is as sure that it is slower: neither is to be believed.
TEST(Verdict, AContradictionChangesNothing) {
    const auto outcome =
        judge({launch(128, 100, 100), launch(64, predicted_beyond, emulated_beyond), launch(32, 300, 300)}, 2,
              0.005);
    EXPECT_EQ(outcome.end, CheckEnd::confirmed);
    EXPECT_THAT(outcome.why, HasSubstr("contradict"));
}

// What the fits' own errors leave open counts with the model's.
TEST(Verdict, FitsThatAreFarOffLeaveMoreOpen) {
    const auto outcome = judge(
        {launch(128, 100, 100), launch(64, predicted_beyond, emulated_beyond, 0.4), launch(32, 300, 300)}, 2,
        0.005);
    EXPECT_EQ(outcome.end, CheckEnd::changed);
}

// The launch as written is a candidate like the others.
TEST(Verdict, TheLaunchAsWrittenComesBackWhereTheClosedFormCannotTell) {
    const auto outcome =
        judge({launch(128, 100, 100), launch(64, 101, 99), launch(32, predicted_within, emulated_beyond)}, 2,
              0.005);
    EXPECT_EQ(outcome.end, CheckEnd::changed);
    EXPECT_EQ(outcome.chosen, 2u);
    EXPECT_THAT(outcome.why, HasSubstr("as written"));
    EXPECT_EQ(judge({launch(128, 100, 100), launch(32, predicted_beyond, emulated_beyond)}, 1, 0.005).end,
              CheckEnd::confirmed);
}

TEST(Verdict, TheLeastGainThatIsAskedForCounts) {
    const std::vector<CheckedLaunch> launches{launch(128, 100, 100), launch(64, 101, emulated_beyond)};
    const double saved = 1 - emulated_beyond / 100;
    EXPECT_EQ(judge(launches, 0, saved - 0.01).end, CheckEnd::changed);
    EXPECT_EQ(judge(launches, 0, saved + 0.01).end, CheckEnd::confirmed);
    EXPECT_EQ(judge(launches, 0, 1).end, CheckEnd::confirmed);
}

TEST(Verdict, WhatWasChosenMayBeTheLaunchAsWritten) {
    const auto outcome = judge({launch(32, 100, 100), launch(64, 101, emulated_beyond)}, 0, 0.005);
    EXPECT_EQ(outcome.end, CheckEnd::changed);
    EXPECT_EQ(outcome.chosen, 1u);
}

}  // namespace
}  // namespace trimtab::choosing
