// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tuned_quality/slice_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trimtab::bench {

std::string_view name(Predictor predictor) {
    constexpr std::array<std::string_view, predictor_count> names{"closed_form", "emulation", "both"};
    return names[static_cast<std::size_t>(predictor)];
}

double predicted_ms(const Prediction& prediction, Predictor predictor) {
    switch (predictor) {
        case Predictor::closed_form:
            return prediction.closed_form_ms;
        case Predictor::emulation:
            return prediction.emulation_ms;
        case Predictor::both:
            break;
    }
    return std::sqrt(prediction.closed_form_ms * prediction.emulation_ms);
}

SliceScore score_slice(const Slice& slice, std::span<const Prediction> predictions) {
    SliceScore out;
    std::vector<double> measured;
    for (std::size_t i = 0; i < slice.configurations.size(); ++i) {
        const Configuration& one = slice.configurations[i];
        if (!std::isfinite(predicted_ms(predictions[i], Predictor::both))) continue;
        ++out.configurations;
        measured.push_back(one.ms);
        if (out.best == nullptr || one.ms < out.best->ms) out.best = &one;
    }
    for (std::size_t p = 0; p < predictor_count; ++p) {
        SliceScore::Of& own = out.of[p];
        std::vector<double> predicted;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < slice.configurations.size(); ++i) {
            if (!std::isfinite(predicted_ms(predictions[i], Predictor::both))) continue;
            const double ms = predicted_ms(predictions[i], static_cast<Predictor>(p));
            predicted.push_back(ms);
            if (slice.configurations[i].ms > least_ms)
                own.errors.push_back(ms / slice.configurations[i].ms - 1);
            if (ms >= least) continue;
            least = ms;
            own.chosen = &slice.configurations[i];
        }
        if (own.chosen == nullptr) continue;
        own.efficiency = out.best->ms / own.chosen->ms;
        own.rank_correlation = spearman(measured, predicted);
    }
    return out;
}

TableScore score_table(std::span<const SliceScore> slices, Predictor predictor) {
    TableScore out;
    std::vector<Scored> efficiencies;
    std::vector<double> errors;
    double ranks = 0;
    out.rank_least = 1;
    for (const SliceScore& slice : slices) {
        if (slice.configurations < 2) continue;
        const SliceScore::Of& own = slice.of[static_cast<std::size_t>(predictor)];
        efficiencies.push_back({.efficiency = own.efficiency, .best_ms = slice.best->ms});
        ranks += own.rank_correlation;
        out.rank_least = std::min(out.rank_least, own.rank_correlation);
        for (const double error : own.errors) errors.push_back(error);
    }
    if (efficiencies.empty()) return out;
    out.efficiency = summarise(efficiencies);
    out.rank_mean = ranks / static_cast<double>(efficiencies.size());
    const auto median = [](std::vector<double> values) {
        std::ranges::sort(values);
        return values[values.size() / 2];
    };
    out.timed = errors.size();
    if (errors.empty()) return out;
    out.bias = median(errors);
    for (double& error : errors) error = std::abs(error);
    for (const double error : errors) out.mean_error += error / static_cast<double>(errors.size());
    out.median_error = median(errors);
    return out;
}

}  // namespace trimtab::bench
