// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/stepwise.h"

#include <algorithm>
#include <cmath>

namespace trimtab::driver_gen {

namespace {

using Columns = std::vector<std::uint32_t>;

double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

class Stepwise {
  public:
    Stepwise(const Candidates& candidates, bool all_rows) : c_(candidates) {
        for (std::size_t r = 0; r < c_.columns.rows; ++r)
            if (all_rows || !c_.held_out[r]) rows_.push_back(r);
    }

    [[nodiscard]] std::optional<Selection> forward(std::size_t most) const;
    [[nodiscard]] Selection backward(Selection selection) const;
    [[nodiscard]] std::optional<Selection> fit(const Columns& columns) const;

  private:
    // The column as it enters the linear system, times the row's weight.
    [[nodiscard]] std::vector<double> weighted(std::uint32_t column) const;
    [[nodiscard]] std::vector<double> predict(const Columns& columns, const std::vector<double>& factors,
                                              std::vector<double>* denominators) const;
    void judge(Selection& selection) const;

    const Candidates& c_;
    std::vector<std::size_t> rows_;
};

std::vector<double> Stepwise::weighted(std::uint32_t column) const {
    std::vector<double> values(rows_.size());
    const auto source = c_.columns.column(column);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const std::size_t r = rows_[i];
        values[i] = source[r] * c_.weight[r] * (c_.denominator[column] ? -c_.target[r] : 1);
    }
    return values;
}

std::vector<double> Stepwise::predict(const Columns& columns, const std::vector<double>& factors,
                                      std::vector<double>* denominators) const {
    std::vector<double> over(c_.columns.rows, 0), under(c_.columns.rows, 1);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::vector<double>& side = c_.denominator[columns[i]] ? under : over;
        const auto values = c_.columns.column(columns[i]);
        for (std::size_t r = 0; r < side.size(); ++r) side[r] += factors[i] * values[r];
    }
    for (std::size_t r = 0; r < over.size(); ++r) over[r] /= under[r];
    if (denominators != nullptr) *denominators = std::move(under);
    return over;
}

void Stepwise::judge(Selection& selection) const {
    double seen = 0, unseen = 0, worst = 0;
    std::size_t seen_rows = 0, unseen_rows = 0;
    for (std::size_t r = 0; r < selection.predicted.size(); ++r) {
        const double error = std::abs(selection.predicted[r] - c_.target[r]) * c_.weight[r];
        worst = std::max(worst, std::isfinite(error) ? error : 1e30);
        (c_.held_out[r] ? unseen : seen) += error * error;
        ++(c_.held_out[r] ? unseen_rows : seen_rows);
    }
    seen = std::sqrt(seen / std::max<double>(1, static_cast<double>(seen_rows)));
    unseen = unseen_rows != 0 ? std::sqrt(unseen / static_cast<double>(unseen_rows)) : seen;
    selection.score = std::isfinite(seen + unseen) ? 0.75 * unseen + 0.25 * seen : 1e30;
    selection.exact = worst <= rounding_error;
}

std::optional<Selection> Stepwise::fit(const Columns& columns) const {
    const bool rational =
        std::ranges::any_of(columns, [&](std::uint32_t column) { return c_.denominator[column]; });
    std::vector<double> scale(rows_.size(), 1);
    Selection selection;
    selection.columns = columns;
    // p - y q = 0 weighs each row by q; dividing by the last q brings it back to p / q - y = 0.
    for (int iteration = 0; iteration < (rational ? 4 : 1); ++iteration) {
        Matrix system(rows_.size(), columns.size());
        std::vector<double> right(rows_.size());
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto values = weighted(columns[i]);
            for (std::size_t r = 0; r < values.size(); ++r) system.column(i)[r] = values[r] * scale[r];
        }
        for (std::size_t i = 0; i < rows_.size(); ++i)
            right[i] = c_.target[rows_[i]] * c_.weight[rows_[i]] * scale[i];
        auto solved = solve(system, right);
        if (!solved) return std::nullopt;
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (c_.denominator[columns[i]] && solved->coefficients[i] < 0) return std::nullopt;
        selection.coefficients = std::move(solved->coefficients);
        selection.condition = solved->condition;
        selection.rank = solved->rank;
        std::vector<double> denominators;
        selection.predicted = predict(columns, selection.coefficients, &denominators);
        for (std::size_t i = 0; i < rows_.size(); ++i) scale[i] = 1 / denominators[rows_[i]];
    }
    judge(selection);
    return selection;
}

std::optional<Selection> Stepwise::forward(std::size_t most) const {
    const std::size_t count = c_.columns.columns;
    std::vector<std::vector<double>> free(count);  // what the chosen columns do not already say
    std::vector<double> length(count), original(count);
    for (std::uint32_t k = 0; k < count; ++k) {
        free[k] = weighted(k);
        original[k] = length[k] = dot(free[k], free[k]);
    }
    std::vector<double> residual(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) residual[i] = c_.target[rows_[i]] * c_.weight[rows_[i]];

    std::vector<bool> out(count, false);
    Columns chosen;
    std::vector<Selection> path;
    while (chosen.size() < most) {
        std::uint32_t best = count;
        double best_gain = 0;
        for (std::uint32_t k = 0; k < count; ++k) {
            if (out[k] || !(length[k] > 1e-12 * original[k])) continue;
            const double along = dot(free[k], residual);
            const double gain = along * along / length[k] * (1 - 0.02 * c_.complexity[k]);
            if (gain > best_gain) {
                best_gain = gain;
                best = k;
            }
        }
        if (best == count) break;
        out[best] = true;
        chosen.push_back(best);
        auto selection = fit(chosen);
        if (!selection) {  // a negative denominator, say: do without this one
            chosen.pop_back();
            continue;
        }
        const std::vector<double> direction = free[best];
        const double square = length[best];
        const double along = dot(direction, residual) / square;
        for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= along * direction[i];
        for (std::uint32_t k = 0; k < count; ++k) {
            if (out[k]) continue;
            const double factor = dot(direction, free[k]) / square;
            if (factor == 0) continue;
            for (std::size_t i = 0; i < residual.size(); ++i) free[k][i] -= factor * direction[i];
            length[k] = dot(free[k], free[k]);
        }
        path.push_back(std::move(*selection));
        if (path.back().exact) break;
    }
    if (path.empty()) return std::nullopt;
    if (path.back().exact) return path.back();
    const double best = std::ranges::min(path, {}, &Selection::score).score;
    return *std::ranges::find_if(path,
                                 [&](const Selection& step) { return step.score <= acceptable_score(best); });
}

Selection Stepwise::backward(Selection selection) const {
    for (bool again = true; again && selection.columns.size() > 1;) {
        again = false;
        std::optional<Selection> shorter;
        for (std::size_t i = 0; i < selection.columns.size(); ++i) {
            Columns fewer = selection.columns;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            auto without = fit(fewer);
            if (!without || (selection.exact && !without->exact)) continue;
            if (!without->exact && without->score > 1.03 * selection.score + 5e-4) continue;
            if (!shorter || without->score < shorter->score) shorter = std::move(without);
        }
        if (shorter) {
            selection = std::move(*shorter);
            again = true;
        }
    }
    return selection;
}

}  // namespace

std::optional<Selection> select_columns(const Candidates& candidates, std::size_t most_columns) {
    const Stepwise stepwise(candidates, false);
    auto selection = stepwise.forward(most_columns);
    if (!selection) return std::nullopt;
    return stepwise.backward(std::move(*selection));
}

std::optional<Selection> refit(const Candidates& candidates, const Selection& selection) {
    return Stepwise(candidates, true).fit(selection.columns);
}

}  // namespace trimtab::driver_gen
