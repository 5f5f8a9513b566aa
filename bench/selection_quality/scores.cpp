// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trimtab::bench {

namespace {

std::vector<double> ranks(std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> out(values.size());
    for (std::size_t i = 0; i < order.size();) {
        std::size_t end = i;
        while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
        for (std::size_t k = i; k < end; ++k) out[order[k]] = double(i + end - 1) / 2;
        i = end;
    }
    return out;
}

}  // namespace

Summary summarise(std::span<const Scored> scores) {
    Summary summary{.n = scores.size()};
    if (scores.empty()) return summary;
    std::vector<double> sorted;
    double logs = 0;
    for (const Scored& score : scores) {
        sorted.push_back(score.efficiency);
        logs += std::log(score.efficiency);
        if (score.efficiency >= 0.95) summary.share95 += 1.0 / double(scores.size());
        if (score.best_ms > 0.05 &&
            (summary.min_above_50us == 0 || score.efficiency < summary.min_above_50us))
            summary.min_above_50us = score.efficiency;
    }
    std::ranges::sort(sorted);
    const std::size_t half = sorted.size() / 2;
    summary.geomean = std::exp(logs / double(scores.size()));
    summary.median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    summary.p10 = sorted[sorted.size() / 10];
    summary.min = sorted.front();
    return summary;
}

double spearman(std::span<const double> a, std::span<const double> b) {
    if (a.size() != b.size() || a.size() < 2) return 0;
    const std::vector<double> x = ranks(a), y = ranks(b);
    const double mean = double(a.size() - 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (x[i] - mean) * (y[i] - mean);
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace trimtab::bench
