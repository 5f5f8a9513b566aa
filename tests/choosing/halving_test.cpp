// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Successive halving over launches whose true times are known, with noise.
#include "choosing/learning/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trimtab::choosing {
namespace {

struct Course {
    double regret = 0;          // of the launch that was kept, over the fastest
    double cost = 0;            // of all launches, over launching the first one always, relative
    std::uint64_t over_at = 0;  // the launch at which it ended; 0: it did not
};

// `launches` launches whose times scatter by `noise`; results come `delay` launches later.
Course run(const std::vector<double>& true_ns, const std::vector<double>& predicted_ns, double noise,
           int launches, std::uint64_t seed, double share = 0.1, std::size_t delay = 0) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> scatter(1, noise);
    Halving halving(predicted_ns, share, 0.005);
    std::vector<Halving::Turn> under_way;
    Course result;
    double total_ns = 0;
    for (int i = 1; i <= launches; ++i) {
        const Halving::Turn turn = halving.next();
        total_ns += true_ns[turn.launch];
        if (turn.is_timed) under_way.push_back(turn);
        if (under_way.size() > delay || halving.is_over()) {
            for (const Halving::Turn& one : under_way)
                halving.add(one.launch, true_ns[one.launch] * std::max(0.01, scatter(random)));
            under_way.clear();
        }
        if (halving.is_over() && result.over_at == 0) result.over_at = static_cast<std::uint64_t>(i);
    }
    result.regret = true_ns[halving.best()] / *std::ranges::min_element(true_ns) - 1;
    result.cost = total_ns / (launches * true_ns.front()) - 1;
    return result;
}

// Eight leaders whose predictions are off by some 10 %, the best predicted one first.
std::vector<std::pair<double, double>> leaders(double spread, std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(0, spread);
    std::normal_distribution<double> off(1, 0.1);
    std::vector<std::pair<double, double>> made;  // predicted, true
    for (int i = 0; i < 8; ++i) {
        const double time_ns = 50e3 * (1 + uniform(random));
        made.emplace_back(time_ns * off(random), time_ns);
    }
    std::ranges::sort(made);
    return made;
}

TEST(Halving, RegretIsSmallAfterAHundredLaunchesWithNoise) {
    std::mt19937_64 random(7);
    for (const double spread : {0.02, 0.1, 0.3, 1.0}) {
        SCOPED_TRACE(spread);
        double regret = 0, cost = 0;
        int over = 0;
        constexpr int trials = 200;
        for (int trial = 0; trial < trials; ++trial) {
            std::vector<double> predicted_ns, true_ns;
            for (const auto& [predicted, time] : leaders(spread, random)) {
                predicted_ns.push_back(predicted);
                true_ns.push_back(time);
            }
            const Course one = run(true_ns, predicted_ns, 0.05, 100, static_cast<std::uint64_t>(trial));
            regret += one.regret / trials;
            cost = std::max(cost, one.cost);
            if (one.over_at != 0) ++over;
        }
        EXPECT_LT(regret, 0.01);
        // What was tried, beyond what the first launch would have taken: the share, and what noise hides of it.
        EXPECT_LT(cost, 0.1 + 0.05);
        EXPECT_GT(over, trials * 9 / 10);
    }
}

TEST(Halving, IsOverSoonWhereTheOthersAreClearlySlower) {
    const std::vector<double> times = {100, 130, 140, 150, 160, 170, 180, 190};
    const Course one = run(times, times, 0.01, 100, 1, 1);
    EXPECT_EQ(one.regret, 0);
    EXPECT_GT(one.over_at, 0u);
    EXPECT_LE(one.over_at, 34u);
}

TEST(Halving, StopsWhereWhatIsLeftIsNoise) {
    const std::vector<double> times(8, 1000.0);
    const Course one = run(times, times, 0.002, 100, 1);
    EXPECT_GT(one.over_at, 0u);
    EXPECT_LE(one.over_at, 34u) << "the first round is enough";
}

TEST(Halving, TheFirstStaysWhereNothingIsGained) {
    Halving halving({100, 100}, 1, 0.005);
    for (int i = 0; i < 100 && !halving.is_over(); ++i) {
        const Halving::Turn turn = halving.next();
        if (turn.is_timed) halving.add(turn.launch, turn.launch == 0 ? 100.0 : 99.8);
    }
    EXPECT_TRUE(halving.is_over());
    EXPECT_EQ(halving.best(), 0u);
}

TEST(Halving, TimesThatComeLateAreWaitedForByLaunchesThatAreNotTimed) {
    std::mt19937_64 random(3);
    std::vector<double> predicted_ns, true_ns;
    for (const auto& [predicted, time] : leaders(0.3, random)) {
        predicted_ns.push_back(predicted);
        true_ns.push_back(time);
    }
    const Course one = run(true_ns, predicted_ns, 0.02, 1000, 3, 0.1, 7);
    EXPECT_LT(one.regret, 0.03);
    EXPECT_GT(one.over_at, 0u);
    // None ever comes: the launches that may be under way are made, and no more; then it is given up.
    Halving halving({100, 90, 80}, 1, 0.005);
    std::uint64_t timed = 0;
    for (std::uint64_t i = 0; i < Halving::most_launches; ++i)
        if (halving.next().is_timed) ++timed;
    EXPECT_EQ(timed, Halving::most_under_way);
    EXPECT_TRUE(halving.is_over());
    EXPECT_EQ(halving.best(), 0u);
}

TEST(Halving, AShareOfNothingTriesNothingThatIsPredictedSlower) {
    const std::vector<double> times = {100, 101, 150};
    Halving halving(times, 0, 0.005);
    for (int i = 0; i < 200; ++i) {
        const Halving::Turn turn = halving.next();
        EXPECT_EQ(turn.launch, 0u);
        if (turn.is_timed) halving.add(turn.launch, 100);
    }
}

TEST(Halving, OneTimeThatIsFarOffIsNotBelieved) {
    Halving halving({100, 120}, 1, 0.005);
    int first = 0;
    for (int i = 0; i < 100 && !halving.is_over(); ++i) {
        const Halving::Turn turn = halving.next();
        if (!turn.is_timed) continue;
        const double time_ns = turn.launch == 0 ? 100.0 + first % 3 : 120.0 + i % 3;
        // A page that moved, once.
        halving.add(turn.launch, turn.launch == 0 && ++first == 2 ? 5000.0 : time_ns);
    }
    EXPECT_TRUE(halving.is_over());
    EXPECT_EQ(halving.best(), 0u);
}

TEST(Halving, EndsWhereItCannotGoOn) {
    Halving one({100}, 0.1, 0.005);
    EXPECT_TRUE(one.is_over());
    Halving ended({100, 90}, 0.1, 0.005);
    ended.end("the device is gone");
    EXPECT_TRUE(ended.is_over());
    EXPECT_EQ(ended.best(), 0u);
    EXPECT_EQ(ended.why(), "the device is gone");
    EXPECT_EQ(ended.next().launch, 0u);
}

}  // namespace
}  // namespace trimtab::choosing
