// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways of searching, on times that are known in closed form.
#include "emulation/schedule/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace trimtab::schedule {
namespace {

using testing::HasSubstr;

constexpr double sms = 40, extent_x = 1920, extent_y = 1080, most_warps = 32;

// Blocks of whole warps over an image. A warp of several rows asks L2 for as many segments, low blocks read their borders
// more often, and every round of residence waits for a latency; large blocks leave threads over.
struct Problem {
    SearchSpace space{.dimensions = {"x", "y"}, .candidates = {}};

    Problem() {
        for (double x = 4; x <= 1024; x += 4)
            for (double y = 1; x * y <= 1024; ++y) {
                if (std::fmod(x * y, 32) != 0) continue;
                const double blocks = std::ceil(extent_x / x) * std::ceil(extent_y / y), threads = x * y;
                space.candidates.push_back(
                    {.values = {x, y},
                     .width = x,
                     .threads = threads,
                     .threads_on_sm = std::ceil(blocks / sms) * threads,
                     .resident_warps = std::floor(most_warps * 32 / threads) * threads / 32});
            }
    }
    Emulated of(std::size_t c) const {
        const Candidate& one = space.candidates[c];
        Emulated out{.time_ns = 0, .warps_per_sm = *one.resident_warps, .cycles = {}, .bottleneck = {}};
        const double segments =
            one.threads_on_sm / 32 * (1 + 32 / std::min(one.width, 32.0)) * (1 + 4 / one.values[1]);
        const double waiting = one.threads_on_sm / 32 / *one.resident_warps * 40;
        out.cycles[index(Resource::l2)] = segments;
        out.time_ns = segments + waiting;
        out.bottleneck.all = {{.resource = Resource::l2, .is_gap = true, .value = segments / out.time_ns},
                              {.resource = Resource::dram, .value = waiting / out.time_ns}};
        return out;
    }
    // Emulations until one is within 2 % of the best of all.
    std::size_t needed(const SearchResult& result) const {
        double best = of(0).time_ns;
        for (std::size_t c = 0; c < space.candidates.size(); ++c) best = std::min(best, of(c).time_ns);
        const auto found = std::ranges::find_if(
            result.steps, [&](const SearchStep& step) { return step.emulated.time_ns <= 1.02 * best; });
        EXPECT_NE(found, result.steps.end());
        return static_cast<std::size_t>(found - result.steps.begin()) + 1;
    }
    SearchResult run(SearchOptions options, std::set<std::size_t> refused = {}) const {
        return search(
            space,
            [&](std::size_t c, bool with_bottleneck) -> std::optional<Emulated> {
                EXPECT_EQ(with_bottleneck, options.method == SearchMethod::directed);
                if (refused.contains(c)) return std::nullopt;
                return of(c);
            },
            options);
    }
};

TEST(Search, ExhaustiveEmulatesEveryLaunchOnce) {
    const Problem problem;
    const SearchResult all = problem.run({.method = SearchMethod::exhaustive}, {3});
    EXPECT_EQ(all.steps.size() + 1, problem.space.candidates.size());
    EXPECT_EQ(all.refused, std::vector<std::size_t>{3});
    for (const SearchStep& step : all.steps)
        EXPECT_GE(step.emulated.time_ns, all.steps[*all.best].emulated.time_ns);
}

TEST(Search, ASeedIsAnOrder) {
    const Problem problem;
    const auto order = [&](std::uint64_t seed) {
        std::vector<std::size_t> out;
        for (const SearchStep& step :
             problem.run({.method = SearchMethod::random, .seed = seed, .most = 20}).steps)
            out.push_back(step.candidate);
        return out;
    };
    EXPECT_EQ(order(7).size(), 20);
    EXPECT_EQ(order(7), order(7));
    EXPECT_NE(order(7), order(8));
}

TEST(Search, BottlenecksLeadInAFifthOfRandomsEmulations) {
    const Problem problem;
    // From the worst corner: rows of four threads.
    const auto& candidates = problem.space.candidates;
    const auto start = std::ranges::find_if(candidates, [](const Candidate& c) { return c.threads == 1024; });
    double of_random = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed)
        of_random +=
            static_cast<double>(problem.needed(problem.run({.method = SearchMethod::random, .seed = seed}))) /
            30;
    const SearchResult directed =
        problem.run({.start = static_cast<std::size_t>(start - candidates.begin())});
    EXPECT_GT(of_random, 15);  // else the problem shows nothing
    EXPECT_LE(static_cast<double>(problem.needed(directed)), of_random / 5);
    EXPECT_LT(directed.steps.size(), candidates.size() / 5) << "it ends by itself";
    EXPECT_EQ(directed.steps[0].why, "start");
    EXPECT_THAT(directed.steps[1].why, HasSubstr("l2 throughput: "));
}

TEST(Search, WhatCannotBeLaunchedIsPassedOver) {
    const Problem problem;
    std::set<std::size_t> refused;
    for (std::size_t c = 0; c < problem.space.candidates.size(); ++c)
        if (problem.space.candidates[c].threads > 64) refused.insert(c);
    const SearchResult some = problem.run({}, refused);
    ASSERT_TRUE(some.best);
    EXPECT_FALSE(some.refused.empty());
    for (std::size_t c = 0; c < problem.space.candidates.size(); ++c) refused.insert(c);
    const SearchResult none = problem.run({}, refused);
    EXPECT_FALSE(none.best);
    EXPECT_EQ(none.refused.size(), problem.space.candidates.size());
}

}  // namespace
}  // namespace trimtab::schedule
