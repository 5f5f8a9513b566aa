// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Efficiencies of many choices as a few numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace trimtab::bench {

struct Scored {
    double efficiency = 1;  // best time / time of the choice
    double best_ms = 0;
};

struct Summary {
    std::size_t n = 0;
    double geomean = 0, median = 0;
    double p10 = 0;  // value at rank floor(n / 10) of the ascending efficiencies
    double min = 0;
    double min_above_50us = 0;  // over cases whose best time exceeds 50 us; 0 where there is none
    double share95 = 0;         // efficiencies of at least 0.95
};
[[nodiscard]] Summary summarise(std::span<const Scored> scores);

// Rank correlation, ties by mean rank; 0 for fewer than two values or without variation.
[[nodiscard]] double spearman(std::span<const double> a, std::span<const double> b);

}  // namespace trimtab::bench
