// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How good predictions of a slice's configurations are, of each predictor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bench/selection_quality/scores.h"
#include "bench/tuned_quality/results_file.h"
#include "bench/tuned_quality/tuned_table.h"

namespace trimtab::bench {

enum class Predictor : std::uint8_t { closed_form, emulation, both };
inline constexpr std::size_t predictor_count = 3;
[[nodiscard]] std::string_view name(Predictor predictor);
// `both`: the geometric mean.
[[nodiscard]] double predicted_ms(const Prediction& prediction, Predictor predictor);

// Below it launches are mostly overhead.
inline constexpr double least_ms = 0.05;

struct SliceScore {
    std::size_t configurations = 0;  // that all predictors predicted
    const Configuration* best = nullptr;
    struct Of {
        const Configuration* chosen = nullptr;
        double efficiency = 0, rank_correlation = 0;
        std::vector<double> errors;  // predicted / measured - 1, of what took longer than least_ms
    };
    std::array<Of, predictor_count> of;
};

// `predictions` alongside the slice's configurations; NaN where there is none.
[[nodiscard]] SliceScore score_slice(const Slice& slice, std::span<const Prediction> predictions);

struct TableScore {
    Summary efficiency;
    double rank_mean = 0, rank_least = 0;
    // Of all configurations that took longer than least_ms: mean and median of |error|, median of the error.
    std::size_t timed = 0;
    double mean_error = 0, median_error = 0, bias = 0;
};
// Slices of one configuration do not count.
[[nodiscard]] TableScore score_table(std::span<const SliceScore> slices, Predictor predictor);

}  // namespace trimtab::bench
