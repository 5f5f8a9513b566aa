// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/study.h"

#include <algorithm>
#include <cmath>

namespace trimtab::bench {

const MeasuredBlock* StudiedCase::find_legal(Block block) const {
    const auto found = std::ranges::find(legal, block, &MeasuredBlock::block);
    return found == legal.end() ? nullptr : &*found;
}

std::optional<double> StudiedCase::efficiency(const std::string& rule) const {
    const auto choice = choices.find(rule);
    if (choice == choices.end()) return std::nullopt;
    const MeasuredBlock* chosen = find_legal(choice->second);
    if (chosen == nullptr) return std::nullopt;
    return best.ms / chosen->ms;
}

double StudiedCase::rank_correlation() const {
    std::vector<double> times, guesses;
    for (const PredictedBlock& one : predicted)
        if (const MeasuredBlock* block = find_legal(one.block)) {
            times.push_back(block->ms);
            guesses.push_back(one.ns);
        }
    return spearman(times, guesses);
}

double StudiedCase::mean_absolute_error() const {
    double sum = 0;
    std::size_t count = 0;
    for (const PredictedBlock& one : predicted)
        if (const MeasuredBlock* block = find_legal(one.block)) {
            sum += std::abs(one.ns / 1e6 / block->ms - 1);
            ++count;
        }
    return count == 0 ? 0 : sum / double(count);
}

void Study::choose(StudiedCase& one, const std::string& rule, Block block) {
    if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
    one.choices[rule] = block;
}

Summary summarise(const Study& study, const std::string& rule, Dimensions dimensions, const std::string& gpu,
                  const std::string& app) {
    std::vector<Scored> scores;
    for (const StudiedCase& one : study.cases) {
        if (!gpu.empty() && one.measured.gpu != gpu) continue;
        if (!app.empty() && one.measured.app != app) continue;
        if (dimensions != Dimensions::all && (dimensions == Dimensions::two) != one.launches.two_dimensional)
            continue;
        if (const auto efficiency = one.efficiency(rule))
            scores.push_back({.efficiency = *efficiency, .best_ms = one.best.ms});
    }
    return summarise(scores);
}

}  // namespace trimtab::bench
