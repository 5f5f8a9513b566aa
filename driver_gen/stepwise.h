// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Picks few columns out of many: forward by what each takes off the residual, judged on rows held out, then
// backward. Numerators alone, or numerators and a denominator (a rational function, linearised).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "driver_gen/least_squares.h"

namespace trimtab::driver_gen {

// Errors at or below this are rounding.
inline constexpr double rounding_error = 1e-9;

// A simpler function is preferred while its score is no worse than this: what a richer one gains below it is
// noise of the sampled blocks, and extrapolates badly.
[[nodiscard]] constexpr double acceptable_score(double best) {
    return 1.15 * best + 3e-3;
}

struct Candidates {
    // A row a point, a column a monomial's value there. Column c stands in the denominator where
    // denominator[c]: the function is sum of numerators / (1 + sum of denominators).
    Matrix columns;
    std::vector<bool> denominator;
    std::vector<double> complexity;      // of a column: 0 for the constant; breaks near ties
    std::vector<double> target, weight;  // of a row; errors are |function - target| * weight
    std::vector<bool> held_out;          // rows that the coefficients are not made from
};

struct Selection {
    std::vector<std::uint32_t> columns;
    std::vector<double> coefficients;
    double condition = 1;
    std::uint32_t rank = 0;
    std::vector<double> predicted;  // every row
    double score = 0;    // root mean square error of the held-out rows and, less heavily, the others
    bool exact = false;  // every row is met to rounding
};

// None where nothing finite fits. Denominators' coefficients are never negative.
[[nodiscard]] std::optional<Selection> select_columns(const Candidates& candidates, std::size_t most_columns);

// The same columns with coefficients from every row, held out or not.
[[nodiscard]] std::optional<Selection> refit(const Candidates& candidates, const Selection& selection);

}  // namespace trimtab::driver_gen
