// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/fit_metric.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "driver_gen/stepwise.h"

namespace trimtab::driver_gen {

namespace {

using model::Metric;
using Rows = std::vector<std::size_t>;

// Values below this share of the mean are measured against it: a hundredth of a divergent branch is no
// matter.
constexpr double floor_share = 0.02;

// Sizes differ by a factor of four or more: a value that keeps within this factor does not follow them.
constexpr double settled_range = 1.5;

// Of so many terms some few agree with any points by chance, and to find these takes long.
constexpr std::size_t most_monomials = 10000;

struct PieceFit {
    std::optional<Condition> when;  // variable: index in FormSpec::cut_variables
    Rows rows;
    std::optional<Selection> selection;
};

struct FormFit {
    const FormSpec* spec = nullptr;
    Basis basis;
    std::vector<bool> denominator;  // of basis.monomials, twice over where the form is rational
    std::vector<PieceFit> pieces;
    double score = 0;
    bool exact = true;
};

Form form_of(const std::vector<Piece>& pieces) {
    bool varies = pieces.size() > 1, inverse = false;
    for (const Piece& piece : pieces) {
        if (!piece.denominator.empty()) return Form::rational;
        for (const Monomial& monomial : piece.numerator)
            for (const auto& [variable, power] : monomial.exponents) {
                varies = true;
                inverse = inverse || power < 0;
            }
    }
    return inverse ? Form::laurent : varies ? Form::polynomial : Form::constant;
}

// The same monomials in any order, whatever their coefficients.
bool have_same_terms(const std::vector<Piece>& a, const std::vector<Piece>& b) {
    const auto terms = [](const std::vector<Monomial>& sum) {
        std::vector<std::vector<std::pair<std::uint32_t, std::int32_t>>> all;
        for (const Monomial& monomial : sum) {
            all.push_back(monomial.exponents);
            std::ranges::sort(all.back());
        }
        std::ranges::sort(all);
        return all;
    };
    return std::ranges::equal(a, b, [&](const Piece& l, const Piece& r) {
        return l.when == r.when && terms(l.numerator) == terms(r.numerator) &&
               terms(l.denominator) == terms(r.denominator);
    });
}

class MetricFitter {
  public:
    MetricFitter(Metric metric, std::span<const FitPoint> points, const FitVariables& fit_variables,
                 const IndexRanges& ranges)
        : metric_(metric), points_(points), fit_variables_(fit_variables), ranges_(ranges) {
        double mean = 0;
        for (const FitPoint& point : points)
            mean += std::abs(point.value) / static_cast<double>(points.size());
        for (const FitPoint& point : points)
            weights_.push_back(mean > 0 ? 1 / std::max(std::abs(point.value), floor_share * mean) : 1);
    }

    FittedMetric fit(std::vector<Variable>& variables);

  private:
    const std::vector<double>& values_of(const Variable& variable);  // at every point
    std::optional<FormFit> fit_form(const FormSpec& spec);
    Candidates candidates(const FormFit& form, const Rows& rows);
    bool cut(const FormSpec& spec, std::vector<PieceFit>& pieces);
    void judge(FittedMetric& fitted, const FormFit& form) const;
    void learn_all(FormFit& form);
    std::vector<Piece> pieces_of(const FormFit& form, std::vector<Variable>& variables);
    void finish(FittedMetric& fitted, FormFit& form, std::vector<Variable>& variables);
    void add_rivals(FittedMetric& fitted, std::vector<FormFit>& tried, double best,
                    std::vector<Variable>& variables);
    bool snap(const Candidates& rows, Selection& selection) const;

    Metric metric_;
    std::span<const FitPoint> points_;
    const FitVariables& fit_variables_;
    const IndexRanges& ranges_;
    std::vector<double> weights_;
    std::deque<std::pair<Variable, std::vector<double>>> known_;  // values of variables at every point
};

const std::vector<double>& MetricFitter::values_of(const Variable& variable) {
    auto known = std::ranges::find(known_, variable, [](const auto& pair) { return pair.first; });
    if (known == known_.end()) {
        std::vector<double> values;
        for (const FitPoint& point : points_)
            values.push_back(
                evaluate(variable, ranges_, point.data, point.box[0], point.box[1], point.box[2]));
        known_.emplace_back(variable, std::move(values));
        return known_.back().second;
    }
    return known->second;
}

Candidates MetricFitter::candidates(const FormFit& form, const Rows& rows) {
    const std::size_t count = form.denominator.size(), monomials = form.basis.monomials.size();
    Candidates out{.columns = Matrix(rows.size(), count),
                   .denominator = form.denominator,
                   .complexity = {},
                   .target = {},
                   .weight = {},
                   .held_out = {}};
    for (std::size_t c = 0; c < count; ++c) {
        // Denominator columns repeat the monomials after the constant.
        const Monomial& monomial = form.basis.monomials[c < monomials ? c : c - monomials + 1];
        double complexity = form.denominator[c] ? 2 : 0;
        const auto column = out.columns.column(c);
        std::ranges::fill(column, 1);
        for (const auto& [variable, power] : monomial.exponents) {
            complexity += power > 0 ? power : 1 - power;
            const std::vector<double>& values = values_of(form.basis.variables[variable]);
            for (std::size_t r = 0; r < rows.size(); ++r) {
                for (int i = 0; i < power; ++i) column[r] *= values[rows[r]];
                for (int i = 0; i > power; --i) column[r] /= values[rows[r]];
            }
        }
        out.complexity.push_back(complexity);
    }
    for (const std::size_t row : rows) {
        out.target.push_back(points_[row].value);
        out.weight.push_back(weights_[row]);
        out.held_out.push_back(points_[row].held_out);
    }
    return out;
}

// Deals the points to the pieces; false where one would be left with too few to say anything.
bool MetricFitter::cut(const FormSpec& spec, std::vector<PieceFit>& pieces) {
    for (const Condition& condition : spec.cuts)
        pieces.push_back({.when = condition, .rows = {}, .selection = {}});
    pieces.emplace_back();
    for (std::size_t row = 0; row < points_.size(); ++row) {
        const auto piece = std::ranges::find_if(pieces, [&](const PieceFit& candidate) {
            return !candidate.when ||
                   values_of(spec.cut_variables[candidate.when->variable])[row] < candidate.when->below;
        });
        piece->rows.push_back(row);
    }
    return std::ranges::all_of(pieces, [&](const PieceFit& piece) {
        return pieces.size() == 1 || std::ranges::count_if(piece.rows, [&](std::size_t row) {
                                         return !points_[row].held_out;
                                     }) >= 6;
    });
}

std::optional<FormFit> MetricFitter::fit_form(const FormSpec& spec) {
    FormFit form;
    form.spec = &spec;
    if (!cut(spec, form.pieces)) return std::nullopt;
    form.basis = make_basis(spec, fit_variables_);
    if (form.basis.monomials.size() > most_monomials) return std::nullopt;
    form.denominator.assign(form.basis.monomials.size(), false);
    if (spec.rational) form.denominator.resize(2 * form.basis.monomials.size() - 1, true);
    double squares = 0;
    for (PieceFit& piece : form.pieces) {
        const Candidates rows = candidates(form, piece.rows);
        const auto seen = static_cast<std::size_t>(std::ranges::count(rows.held_out, false));
        piece.selection =
            select_columns(rows, std::min(spec.most_columns, std::max<std::size_t>(1, seen / 3)));
        if (!piece.selection) return std::nullopt;
        squares += piece.selection->score * piece.selection->score * static_cast<double>(piece.rows.size());
        form.exact = form.exact && piece.selection->exact;
    }
    form.score = spec.handicap * std::sqrt(squares / static_cast<double>(points_.size()));
    return form;
}

// Brings coefficients to the nearby numbers with small denominators that they must be, if every point is
// still met.
bool MetricFitter::snap(const Candidates& rows, Selection& selection) const {
    constexpr std::array denominators{1,  2,  3,   4,   5,   6,   7,   8,   9,   10,  12,
                                      14, 16, 18,  20,  24,  28,  32,  36,  40,  48,  56,
                                      64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024};
    std::vector<double> snapped;
    for (const double coefficient : selection.coefficients) {
        const auto near = [&](int denominator) {
            const double whole = std::round(coefficient * denominator);
            return whole != 0 && std::abs(whole / denominator - coefficient) <= 1e-7 * std::abs(coefficient);
        };
        const auto* found = std::ranges::find_if(denominators, near);
        snapped.push_back(found == denominators.end() ? coefficient
                                                      : std::round(coefficient * *found) / *found);
    }
    std::vector<double> predicted(rows.target.size());
    for (std::size_t r = 0; r < rows.target.size(); ++r) {
        double over = 0, under = 1;
        for (std::size_t i = 0; i < snapped.size(); ++i)
            (rows.denominator[selection.columns[i]] ? under : over) +=
                snapped[i] * rows.columns.column(selection.columns[i])[r];
        predicted[r] = over / under;
        if (!(std::abs(predicted[r] - rows.target[r]) * rows.weight[r] <= 1e-12)) return false;
    }
    selection.coefficients = std::move(snapped);
    selection.predicted = std::move(predicted);
    return true;
}

void MetricFitter::judge(FittedMetric& fitted, const FormFit& form) const {
    FitQuality& q = fitted.quality;
    for (const PieceFit& piece : form.pieces)
        for (std::size_t i = 0; i < piece.rows.size(); ++i) {
            const std::size_t row = piece.rows[i];
            const double value = std::clamp(piece.selection->predicted[i], fitted.least, fitted.most);
            const double error = std::abs(value - points_[row].value) * weights_[row];
            double& mean = points_[row].held_out ? q.held_out_mean_error : q.mean_error;
            double& most = points_[row].held_out ? q.held_out_max_error : q.max_error;
            ++(points_[row].held_out ? q.held_out_points : q.points);
            mean += error;
            most = std::max(most, error);
        }
    if (q.points != 0) q.mean_error /= q.points;
    if (q.held_out_points != 0) q.held_out_mean_error /= q.held_out_points;
}

// The coefficients may now learn from the points held out, too, which have done their work.
void MetricFitter::learn_all(FormFit& form) {
    for (PieceFit& piece : form.pieces) {
        const Candidates rows = candidates(form, piece.rows);
        if (auto all = refit(rows, *piece.selection); all && (all->exact || !piece.selection->exact))
            piece.selection = std::move(all);
        if (piece.selection->exact) snap(rows, *piece.selection);
    }
}

std::vector<Piece> MetricFitter::pieces_of(const FormFit& form, std::vector<Variable>& variables) {
    const auto place = [&](const Variable& wanted) {
        auto found = std::ranges::find(variables, wanted);
        if (found == variables.end()) found = variables.insert(found, wanted);
        return static_cast<std::uint32_t>(found - variables.begin());
    };
    std::vector<Piece> pieces;
    for (const PieceFit& piece : form.pieces) {
        const Selection& selection = *piece.selection;
        Piece& out = pieces.emplace_back();
        if (piece.when)
            out.when = {.variable = place(form.spec->cut_variables[piece.when->variable]),
                        .below = piece.when->below};
        for (std::size_t i = 0; i < selection.columns.size(); ++i) {
            const std::size_t column = selection.columns[i], count = form.basis.monomials.size();
            const Monomial& source = form.basis.monomials[column < count ? column : column - count + 1];
            Monomial monomial{.coefficient = selection.coefficients[i], .exponents = {}};
            for (const auto& [variable, power] : source.exponents)
                monomial.exponents.emplace_back(place(form.basis.variables[variable]), power);
            (column < count ? out.numerator : out.denominator).push_back(std::move(monomial));
        }
        if (!out.denominator.empty())
            out.denominator.insert(out.denominator.begin(), Monomial{.coefficient = 1, .exponents = {}});
    }
    return pieces;
}

void MetricFitter::finish(FittedMetric& fitted, FormFit& form, std::vector<Variable>& variables) {
    judge(fitted, form);
    learn_all(form);
    FitQuality& q = fitted.quality;
    q.columns = static_cast<std::uint32_t>(form.denominator.size());
    q.rank = std::numeric_limits<std::uint32_t>::max();
    q.data_degree = form.basis.data_degree;
    q.box_degree = form.basis.box_degree;
    fitted.exact = form.exact;
    for (const PieceFit& piece : form.pieces) {
        q.condition = std::max(q.condition, piece.selection->condition);
        q.rank = std::min(q.rank, piece.selection->rank);
    }
    fitted.pieces = pieces_of(form, variables);
    fitted.form = form_of(fitted.pieces);
}

// Functions that could have been taken as well, but are others. Few: most forms that do as well are the same few
// terms, found among more.
void MetricFitter::add_rivals(FittedMetric& fitted, std::vector<FormFit>& tried, double best,
                              std::vector<Variable>& variables) {
    constexpr std::size_t most_rivals = 2;
    std::vector<FormFit*> rivals;
    for (FormFit& form : tried)
        if (form.score <= acceptable_score(best)) rivals.push_back(&form);
    std::ranges::sort(rivals, {},
                      [&](const FormFit* form) { return std::pair(form->score, form - tried.data()); });
    for (FormFit* form : rivals) {
        if (fitted.rivals.size() == most_rivals) break;
        learn_all(*form);
        std::vector<Piece> pieces = pieces_of(*form, variables);
        const auto is_same = [&](const std::vector<Piece>& known) { return have_same_terms(known, pieces); };
        if (!is_same(fitted.pieces) && std::ranges::none_of(fitted.rivals, is_same))
            fitted.rivals.push_back(std::move(pieces));
    }
}

FittedMetric MetricFitter::fit(std::vector<Variable>& variables) {
    FittedMetric fitted;
    fitted.metric = metric_;
    const MetricRange range = metric_range(metric_);
    fitted.least = range.least;
    fitted.most = range.most;

    const double first = points_[0].value;
    if (std::ranges::all_of(points_, [&](const FitPoint& point) {
            return std::abs(point.value - first) <= 1e-12 * std::abs(first);
        })) {
        Piece& piece = fitted.pieces.emplace_back();
        if (first != 0) piece.numerator.push_back({.coefficient = first, .exponents = {}});
        fitted.exact = true;
        fitted.quality.held_out_points =
            static_cast<std::uint32_t>(std::ranges::count(points_, true, &FitPoint::held_out));
        fitted.quality.points = static_cast<std::uint32_t>(points_.size()) - fitted.quality.held_out_points;
        fitted.quality.columns = fitted.quality.rank = fitted.quality.forms_compared = 1;
        return fitted;
    }

    const auto [low, high] = std::ranges::minmax(points_, {}, &FitPoint::value);
    // A launch that does something has one at least.
    if ((metric_ == Metric::active_blocks || metric_ == Metric::active_warps ||
         metric_ == Metric::footprint_sectors) &&
        low.value >= 1)
        fitted.least = 1;
    const std::vector<FormSpec> specs =
        forms_for(metric_, {.given_terms = !fit_variables_.data_terms.empty(),
                            .blocks_cooperate = fit_variables_.blocks_cooperate,
                            .settles = low.value > 0 && high.value < settled_range * low.value});
    std::vector<FormFit> tried;
    for (const FormSpec& spec : specs) {
        if (spec.rational && !fit_variables_.quotients) continue;
        auto form = fit_form(spec);
        if (!form) continue;
        tried.push_back(std::move(*form));
        if (tried.back().exact) break;
    }
    if (tried.empty()) {  // nothing finite: say the mean, and how wrong it is
        double mean = 0;
        for (const FitPoint& point : points_) mean += point.value / static_cast<double>(points_.size());
        fitted.pieces.push_back(
            {.when = {}, .numerator = {{.coefficient = mean, .exponents = {}}}, .denominator = {}});
        fitted.quality.points = static_cast<std::uint32_t>(points_.size());
        for (std::size_t row = 0; row < points_.size(); ++row)
            fitted.quality.max_error =
                std::max(fitted.quality.max_error, std::abs(points_[row].value - mean) * weights_[row]);
        fitted.quality.mean_error = fitted.quality.held_out_mean_error = fitted.quality.held_out_max_error =
            fitted.quality.max_error;
        return fitted;
    }
    FormFit* chosen = &tried.back();
    const double best = std::ranges::min(tried, {}, &FormFit::score).score;
    if (!chosen->exact) {
        chosen = &*std::ranges::find_if(
            tried, [&](const FormFit& form) { return form.score <= acceptable_score(best); });
    }
    fitted.quality.forms_compared = static_cast<std::uint32_t>(tried.size());
    finish(fitted, *chosen, variables);
    if (!fitted.exact) add_rivals(fitted, tried, best, variables);
    return fitted;
}

}  // namespace

MetricRange metric_range(Metric metric) {
    constexpr double most = std::numeric_limits<double>::max();
    switch (metric) {
        case Metric::active_lanes:
            return {.least = 1, .most = 32};
        case Metric::instruction_parallelism:
            return {.least = 1, .most = most};
        default:
            return {.least = 0, .most = most};
    }
}

FittedMetric fit_metric(Metric metric, std::span<const FitPoint> points, const FitVariables& fit_variables,
                        const IndexRanges& ranges, std::vector<Variable>& variables) {
    return MetricFitter(metric, points, fit_variables, ranges).fit(variables);
}

}  // namespace trimtab::driver_gen
