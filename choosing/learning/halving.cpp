// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/learning/halving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace trimtab::choosing {
namespace {

// Tukey's fences: beyond them a time is a clock that changed, a page that moved or another program's kernel.
constexpr double fence = 1.5;
// Standard errors by which one mean must be above another to be clearly so.
constexpr double clearly = 4;
// Degrees of freedom that an estimate of the scatter needs.
constexpr std::size_t least_freedom = 6;

double quantile(const std::vector<double>& sorted, double part) {
    const double at = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> without_outliers(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    if (times.size() < 4) return times;
    const double first = quantile(times, 0.25), third = quantile(times, 0.75);
    const double low = first - fence * (third - first), high = third + fence * (third - first);
    std::erase_if(times, [&](double time) { return time < low || time > high; });
    return times;
}

double mean_of(const std::vector<double>& times) {
    double sum = 0;
    for (const double time : times) sum += time;
    return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

}  // namespace

Halving::Halving(const std::vector<double>& predicted_ns, double share, double least_gain)
    : share_(share), least_gain_(least_gain) {
    for (const double predicted : predicted_ns)
        launches_.push_back({.predicted_ns = predicted, .times_ns = {}, .under_way = 0, .is_in = true});
    if (launches_.size() < 2) settle("there is nothing to compare");
}

double Halving::time_ns(std::size_t launch) const {
    return mean_of(without_outliers(launches_[launch].times_ns));
}

// A launch without times: its prediction, corrected by what the best launch's turned out to be worth.
double Halving::expected_ns(const Launch& launch) const {
    if (!launch.times_ns.empty()) return mean_of(without_outliers(launch.times_ns));
    const Launch& best = launches_[best_];
    if (best.times_ns.empty() || best.predicted_ns <= 0) return launch.predicted_ns;
    return launch.predicted_ns * mean_of(without_outliers(best.times_ns)) / best.predicted_ns;
}

std::size_t Halving::still_in() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(launches_, [](const Launch& launch) { return launch.is_in; }));
}

Halving::Turn Halving::next(bool can_be_timed) {
    ++launched_;
    Turn turn{.launch = best_, .is_timed = false};
    const double best_ns = expected_ns(launches_[best_]);
    std::size_t under_way = 0;
    for (const Launch& launch : launches_) under_way += launch.under_way;
    // The first is not timed: code is loaded and memory moved with it.
    if (!is_over_ && can_be_timed && launched_ > 1 && under_way < most_under_way) {
        const std::size_t wanted = times_of_round[round_];
        const Launch* chosen = nullptr;
        for (std::size_t i = 0; i < launches_.size(); ++i) {
            const Launch& launch = launches_[i];
            const std::size_t has = launch.times_ns.size() + launch.under_way;
            if (!launch.is_in || has >= wanted) continue;
            const double more_ns = std::max(0.0, expected_ns(launch) - best_ns);
            if (tried_ns_ + more_ns > share_ * (spent_ns_ + best_ns + more_ns)) continue;
            if (chosen != nullptr && chosen->times_ns.size() + chosen->under_way <= has) continue;
            chosen = &launch;
            turn = {.launch = i, .is_timed = true};
        }
    }
    Launch& launch = launches_[turn.launch];
    if (turn.is_timed) ++launch.under_way;
    const double time_ns = expected_ns(launch);
    spent_ns_ += time_ns;
    tried_ns_ += std::max(0.0, time_ns - best_ns);
    if (!is_over_ && launched_ >= most_launches) settle(fmt::format("{} launches were made", launched_));
    return turn;
}

void Halving::add(std::size_t launch, double time_ns) {
    Launch& one = launches_[launch];
    if (one.under_way > 0) --one.under_way;
    if (!std::isfinite(time_ns) || time_ns <= 0) return;
    one.times_ns.push_back(time_ns);
    if (!is_over_) look();
}

void Halving::lost(std::size_t launch) {
    if (launches_[launch].under_way > 0) --launches_[launch].under_way;
}

// Far slower ones need no four times, which would cost the most: two, or one that the prediction agrees with.
void Halving::send_slow_ones_away() {
    const double deviation = relative_deviation();
    if (deviation <= 0) return;
    std::size_t fastest = launches_.size();
    std::vector<double> means(launches_.size());
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        if (!launches_[i].is_in || launches_[i].times_ns.empty()) continue;
        means[i] = time_ns(i);
        if (launches_[i].times_ns.size() < 2) continue;
        if (fastest == launches_.size() || means[i] < means[fastest]) fastest = i;
    }
    if (fastest == launches_.size()) return;
    const auto error = [&](std::size_t i) {
        return deviation / std::sqrt(static_cast<double>(launches_[i].times_ns.size()));
    };
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        if (means[i] <= 0) continue;
        const double clear = 1 + clearly * (error(i) + error(fastest));
        const bool is_expected = launches_[i].times_ns.size() > 1 ||
                                 launches_[i].predicted_ns > launches_[fastest].predicted_ns * clear;
        if (means[i] > means[fastest] * clear && is_expected) launches_[i].is_in = false;
    }
}

void Halving::look() {
    send_slow_ones_away();
    for (const Launch& launch : launches_)
        if (launch.is_in && launch.times_ns.size() < times_of_round[round_]) return;
    end_round();
}

// Of all times, each over the mean of its launch.
double Halving::relative_deviation() const {
    double squares = 0;
    std::size_t count = 0, means = 0;
    for (const Launch& launch : launches_) {
        const std::vector<double> times = without_outliers(launch.times_ns);
        if (times.size() < 2) continue;
        const double mean = mean_of(times);
        for (const double time : times) squares += (time / mean - 1) * (time / mean - 1);
        count += times.size();
        ++means;
    }
    return count >= means + least_freedom ? std::sqrt(squares / static_cast<double>(count - means)) : 0;
}

void Halving::end_round() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < launches_.size(); ++i)
        if (launches_[i].is_in) order.push_back(i);
    std::vector<double> means(launches_.size());
    for (const std::size_t i : order) means[i] = time_ns(i);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return means[a] != means[b] ? means[a] < means[b] : a < b;
    });
    best_ = order.front();
    const double error =
        relative_deviation() / std::sqrt(static_cast<double>(times_of_round[round_]));  // of a mean, relative
    const std::size_t half = (order.size() + 1) / 2;
    for (std::size_t place = 1; place < order.size(); ++place) {
        const bool is_clear = means[order[place]] > means[best_] * (1 + clearly * error);
        if (place >= half || is_clear) launches_[order[place]].is_in = false;
    }
    std::size_t last = 0;
    for (std::size_t place = 0; place < order.size(); ++place)
        if (launches_[order[place]].is_in) last = order[place];
    const double left_to_gain = means[last] / means[best_] - 1 + error;
    if (still_in() == 1) return settle("the others are slower");
    if (left_to_gain <= least_gain_ + error && error <= least_gain_)
        return settle(fmt::format("the {} fastest differ by less than the times scatter", still_in()));
    if (++round_ == std::size(times_of_round)) return settle("every round has ended");
    look();
}

void Halving::settle(std::string why) {
    is_over_ = true;
    why_ = std::move(why);
    if (launches_.empty() || launches_.front().times_ns.empty()) return;
    // Of those with times; the one to begin with stays where the gain is none.
    double best_ns = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        if (launches_[i].times_ns.size() < times_of_round[0]) continue;
        const double mean = time_ns(i);
        if (mean < best_ns && (launches_[i].is_in || i == best_)) {
            best_ns = mean;
            best_ = i;
        }
    }
    if (best_ns >= time_ns(0) * (1 - least_gain_) && launches_.front().times_ns.size() >= times_of_round[0])
        best_ = 0;
}

void Halving::end(std::string why) {
    if (!is_over_) settle(std::move(why));
}

}  // namespace trimtab::choosing
