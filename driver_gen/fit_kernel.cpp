// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/fit_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "driver_gen/fit_metric.h"
#include "profiler/arguments.h"

namespace trimtab::driver_gen {

namespace {

using profiler::Profile;
using profiler::ProfilePoint;

// The number of threads of a grid that neither data nor block set, as in grid(80): the block's size says it
// all.
bool goes_with_block(const Profile& profile, std::uint32_t data) {
    const std::string_view name = profile.data_names[data];
    if (!profile.blocks_cooperate || !name.starts_with("extent.")) return false;
    const auto d = static_cast<std::size_t>(name.back() - 'x');
    double blocks = 0;
    for (const ProfilePoint& point : profile.points) {
        // Boxes of several blocks have a footprint alone.
        if (!point.metrics[static_cast<std::size_t>(model::Metric::warp_instructions)]) continue;
        if (blocks == 0) blocks = point.data[data] / point.box[d];
        if (point.data[data] != blocks * point.box[d]) return false;
    }
    return true;
}

// A block for each row: how many threads there are follows from the rows, which D has here, and the block.
std::optional<std::uint32_t> rows_of(const Profile& profile, std::uint32_t data) {
    const std::string_view name = profile.data_names[data];
    if (!profile.blocks_cooperate || !name.starts_with("extent.")) return std::nullopt;
    const auto d = static_cast<std::size_t>(name.back() - 'x');
    const auto counts_blocks = [&](std::size_t rows) {
        return !profile.data_names[rows].starts_with("extent.") &&
               std::ranges::all_of(profile.points, [&](const ProfilePoint& point) {
                   // Boxes of several blocks have a footprint alone.
                   return !point.metrics[static_cast<std::size_t>(model::Metric::warp_instructions)] ||
                          point.data[data] == point.data[rows] * point.box[d];
               });
    };
    for (std::uint32_t rows = 0; rows < profile.data_names.size(); ++rows)
        if (counts_blocks(rows)) return rows;
    return std::nullopt;
}

// Parameters that took several values, leaving out those that equal an earlier one at every point; an extent
// comes after the bound that it equals.
FitVariables fit_variables(const Profile& profile, bool of_boxes, const FitOptions& options) {
    FitVariables fit;
    fit.quotients = options.quotients;
    fit.element_bytes = profile.element_bytes;
    fit.blocks_cooperate = profile.blocks_cooperate;
    const auto same = [&](std::uint32_t a, std::uint32_t b) {
        return std::ranges::all_of(profile.points,
                                   [&](const ProfilePoint& point) { return point.data[a] == point.data[b]; });
    };
    for (const bool extents : {false, true})
        for (std::uint32_t i = 0; i < profile.data_names.size(); ++i) {
            if (!profile.varied[i] || profile.data_names[i].starts_with("extent.") != extents) continue;
            // What several blocks touch together is a share of the launch.
            if (!of_boxes && goes_with_block(profile, i)) continue;
            if (const auto rows = rows_of(profile, i)) {
                if (of_boxes) fit.rows = rows;
                continue;
            }
            if (std::ranges::none_of(fit.data, [&](std::uint32_t earlier) { return same(earlier, i); }))
                fit.data.push_back(i);
        }
    for (std::size_t d = 0; d < 3; ++d)
        fit.dimensions[d] = std::ranges::any_of(profile.points, [&](const ProfilePoint& point) {
            return point.box[d] != profile.points[0].box[d];
        });
    return fit;
}

using DataTerm = std::vector<std::pair<std::uint32_t, std::int32_t>>;

// The parts in D of the monomials that the fits of `metrics` are made of, and what divides them.
std::vector<DataTerm> data_terms_of(const KernelFits& fits, std::span<const model::Metric> metrics) {
    std::vector<DataTerm> terms;
    const auto add = [&](const DataTerm& term) {
        if (std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
    };
    if (!metrics.empty()) add({});
    for (const model::Metric metric : metrics) {
        const FittedMetric* fit = fits.find(metric);
        if (fit == nullptr) continue;
        for (const Piece& piece : fit->pieces)
            for (const Monomial& monomial : piece.numerator) {
                DataTerm term;
                for (const auto& [variable, power] : monomial.exponents)
                    if (fits.variables[variable].kind == VariableKind::data && power > 0)
                        term.emplace_back(fits.variables[variable].data, power);
                std::ranges::sort(term);
                add(term);
                for (std::size_t i = 0; i < term.size(); ++i) {
                    DataTerm less = term;
                    if (--less[i].second == 0) less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
                    add(less);
                }
            }
    }
    return terms;
}

std::expected<std::vector<FitPoint>, Error> points_of(const Profile& profile, model::Metric metric) {
    std::vector<FitPoint> points;
    for (const ProfilePoint& point : profile.points) {
        const auto& value = point.metrics[static_cast<std::size_t>(metric)];
        if (!value) continue;
        if (!std::isfinite(*value))
            return std::unexpected(
                Error{.message = fmt::format("the profile of kernel {} has a {} that is no number",
                                             profile.kernel_id, model::name(metric))});
        points.push_back({.data = point.data,
                          .box = point.box,
                          .value = *value,
                          .held_out = point.held_out,
                          .of_few = point.counts_alone()});
    }
    return points;
}

// Counts first: those that are met best say which terms in D the kernel's loops have, and the others are
// then looked for among these. Then what the counted requests touch, and the rest.
enum class Step : std::uint8_t { counts, other_counts, the_rest };

// Counts that vary with D and are met exactly; without any, those that are met to a fifth of a per cent.
std::vector<model::Metric> well_known_counts(const KernelFits& fits) {
    std::vector<model::Metric> exact, near;
    for (const FittedMetric& fit : fits.metrics) {
        if (!model::is_count(fit.metric) || fit.form == Form::constant) continue;
        if (fit.exact) exact.push_back(fit.metric);
        if (fit.quality.held_out_mean_error < 2e-3) near.push_back(fit.metric);
    }
    return exact.empty() ? near : exact;
}

// A function that meets all others is not given up for launches of a few: a loop of four that is unrolled runs what is
// left over alone there.
FittedMetric fit_points(model::Metric metric, const std::vector<FitPoint>& points, const FitVariables& of,
                        const IndexRanges& ranges, std::vector<Variable>& variables) {
    std::vector<FitPoint> others = points;
    std::erase_if(others, [](const FitPoint& point) { return point.of_few; });
    if (!others.empty() && others.size() < points.size()) {
        FittedMetric fit = fit_metric(metric, others, of, ranges, variables);
        if (fit.exact) return fit;
    }
    return fit_metric(metric, points, of, ranges, variables);
}

std::expected<void, Error> fit_step(const Profile& profile, Step step, const FitOptions& options,
                                    KernelFits& fits) {
    const FitVariables of_blocks = fit_variables(profile, false, options),
                       of_boxes = fit_variables(profile, true, options);
    const std::vector<model::Metric> sources = well_known_counts(fits);
    if (step == Step::other_counts && sources.empty()) return {};
    for (std::size_t m = 0; m < model::metric_count; ++m) {
        const auto metric = static_cast<model::Metric>(m);
        const FittedMetric* known = fits.find(metric);
        if (model::is_count(metric) != (step != Step::the_rest)) continue;
        if (step == Step::other_counts && (known == nullptr || known->exact)) continue;
        if (step == Step::other_counts && std::ranges::find(sources, metric) != sources.end()) continue;
        const auto points = points_of(profile, metric);
        if (!points) return std::unexpected(points.error());
        if (points->empty()) continue;
        FitVariables variables = metric == model::Metric::footprint_sectors ? of_boxes : of_blocks;
        if (step == Step::other_counts) variables.data_terms = data_terms_of(fits, sources);
        if (step == Step::the_rest) variables.data_terms = data_terms_of(fits, requests_of(metric));
        std::erase_if(fits.metrics, [&](const FittedMetric& fit) { return fit.metric == metric; });
        fits.metrics.push_back(fit_points(metric, *points, variables, profile.ranges, fits.variables));
        fits.metrics.back().data_dependent =
            std::ranges::find(profile.data_dependent, metric) != profile.data_dependent.end();
    }
    return {};
}

std::expected<void, Error> fit_all(const Profile& profile, const FitOptions& options, KernelFits& fits) {
    for (const Step step : {Step::counts, Step::other_counts, Step::the_rest})
        if (auto fitted = fit_step(profile, step, options, fits); !fitted)
            return std::unexpected(fitted.error());
    std::ranges::sort(fits.metrics, {}, &FittedMetric::metric);
    return {};
}

// Fits that were replaced leave variables behind.
void drop_unused_variables(KernelFits& fits) {
    std::vector<std::uint32_t> place(fits.variables.size(), Variable::no_data);
    std::vector<Variable> kept;
    const auto keep = [&](std::uint32_t& variable) {
        if (place[variable] == Variable::no_data) {
            place[variable] = static_cast<std::uint32_t>(kept.size());
            kept.push_back(fits.variables[variable]);
        }
        variable = place[variable];
    };
    const auto keep_all = [&](std::vector<Piece>& pieces) {
        for (Piece& piece : pieces) {
            if (piece.when) keep(piece.when->variable);
            for (auto* sum : {&piece.numerator, &piece.denominator})
                for (Monomial& monomial : *sum)
                    for (auto& [variable, power] : monomial.exponents) keep(variable);
        }
    };
    const auto keep_those = [&](std::vector<FittedMetric>& of) {
        for (FittedMetric& fit : of) {
            keep_all(fit.pieces);
            std::ranges::for_each(fit.rivals, keep_all);
        }
    };
    keep_those(fits.metrics);
    for (Layout& layout : fits.layouts) keep_those(layout.metrics);
    fits.variables = std::move(kept);
}

using Values = std::vector<profiler::SpecialValue>;

// Strides of 1, flags and modes.
Values special_values(const Profile& profile, const ProfilePoint& point) {
    Values values;
    for (const std::uint32_t stride : profile.strides)
        if (point.data[stride] == 1) values.push_back({.data = stride, .value = 1});
    for (const profiler::SpecialValue& special : profile.special)
        if (point.data[special.data] == special.value) values.push_back(special);
    std::ranges::sort(values);
    return values;
}

// Is the stride at this place of D one of those values there?
bool is_near(const Profile& profile, const ProfilePoint& point, std::size_t stride) {
    return std::ranges::any_of(special_values(profile, point),
                               [&](const profiler::SpecialValue& special) { return special.data == stride; });
}

bool has_stride(const Profile& profile, const Values& values) {
    return std::ranges::any_of(values, [&](const profiler::SpecialValue& special) {
        return std::ranges::find(profile.strides, special.data) != profile.strides.end();
    });
}

// Its points of that layout. Where some strides are 1, no fit is made of strides and pitches: only of where rows begin.
// Nor is one made of a mode.
Profile in_layout(const Profile& profile, const Values& values) {
    Profile out = profile;
    std::erase_if(out.points,
                  [&](const ProfilePoint& point) { return special_values(profile, point) != values; });
    for (const profiler::SpecialValue& special : values) out.varied[special.data] = false;
    if (!has_stride(profile, values)) return out;
    for (const auto* fixed : {&profile.strides, &profile.pitches})
        for (const std::uint32_t data : *fixed) out.varied[data] = false;
    return out;
}

// Strides change what requests touch, and nothing else.
constexpr std::array touched{model::Metric::load_sectors,          model::Metric::store_sectors,
                             model::Metric::store_partial_sectors, model::Metric::load_lines,
                             model::Metric::store_lines,           model::Metric::shared_wavefronts,
                             model::Metric::footprint_sectors};

std::expected<Layout, Error> fit_strides(const Profile& profile, const Values& values,
                                         const FitOptions& options, KernelFits& fits) {
    const Profile own = in_layout(profile, values);
    FitVariables of_blocks = fit_variables(own, false, options), of_boxes = fit_variables(own, true, options);
    for (const std::uint32_t pitch : own.pitches)
        if (std::ranges::find(values, pitch, &profiler::SpecialValue::data) == values.end())
            for (FitVariables* variables : {&of_blocks, &of_boxes}) variables->pitches.push_back(pitch);
    Layout layout{.values = values, .metrics = {}};
    for (const model::Metric metric : touched) {
        const FittedMetric* const apart = fits.find(metric);
        const auto points = points_of(own, metric);
        if (!points) return std::unexpected(points.error());
        if (apart == nullptr || points->empty()) continue;
        FitVariables variables = metric == model::Metric::footprint_sectors ? of_boxes : of_blocks;
        variables.data_terms = data_terms_of(fits, requests_of(metric));
        FittedMetric& fit = layout.metrics.emplace_back(
            fit_metric(metric, *points, variables, profile.ranges, fits.variables));
        fit.data_dependent = fits.find(metric)->data_dependent;
    }
    return layout;
}

// Everything may be another there.
std::expected<Layout, Error> fit_special(const Profile& profile, const Values& values,
                                         const FitOptions& options, KernelFits& fits) {
    KernelFits own;
    own.variables = fits.variables;
    if (auto fitted = fit_all(in_layout(profile, values), options, own); !fitted)
        return std::unexpected(fitted.error());
    fits.variables = std::move(own.variables);
    std::erase_if(own.metrics, [&](const FittedMetric& fit) { return fits.find(fit.metric) == nullptr; });
    return Layout{.values = values, .metrics = std::move(own.metrics)};
}

// A width of few elements may be other code, too: what is left over of an unrolled loop.
bool has_other_counts(const Profile& profile, const Values& values, const KernelFits& fits) {
    constexpr double same = 0.05;
    return std::ranges::any_of(in_layout(profile, values).points, [&](const ProfilePoint& point) {
        const auto& measured = point.metrics[static_cast<std::size_t>(model::Metric::warp_instructions)];
        return measured && std::abs(fits.evaluate(model::Metric::warp_instructions, point.data, point.box[0],
                                                  point.box[1], point.box[2]) -
                                    *measured) > same * *measured;
    });
}

std::expected<void, Error> fit_layouts(const Profile& profile, const FitOptions& options, KernelFits& fits) {
    std::vector<Values> all;
    for (const ProfilePoint& point : profile.points)
        if (auto values = special_values(profile, point);
            !values.empty() && std::ranges::find(all, values) == all.end())
            all.push_back(std::move(values));
    for (const Values& values : all) {
        auto layout = has_stride(profile, values) && !has_other_counts(profile, values, fits)
                          ? fit_strides(profile, values, options, fits)
                          : fit_special(profile, values, options, fits);
        if (!layout) return std::unexpected(layout.error());
        fits.layouts.push_back(std::move(*layout));
    }
    return {};
}

}  // namespace

std::expected<KernelFits, Error> fit_kernel(const Profile& profile, const FitOptions& options) {
    if (profile.points.empty())
        return std::unexpected(
            Error{.message = fmt::format("the profile of kernel {} has no points", profile.kernel_id)});
    KernelFits fits;
    fits.data_names = profile.data_names;
    fits.ranges = profile.ranges;
    fits.special = profile.special;
    for (std::size_t i = 0; i < profile.data_names.size(); ++i) {
        ProfiledParameter& parameter = fits.profiled.emplace_back();
        parameter.least = parameter.most = profile.points[0].data[i];
        parameter.varied = profile.varied[i];
        parameter.is_stride = std::ranges::find(profile.strides, i) != profile.strides.end();
        for (const ProfilePoint& point : profile.points) {
            // Of strides count those that tell what requests touch; between modes lie others.
            if (parameter.is_stride && (point.counts_alone() || is_near(profile, point, i))) continue;
            if (!parameter.varied && is_near(profile, point, i)) continue;
            parameter.least = std::min(parameter.least, point.data[i]);
            parameter.most = std::max(parameter.most, point.data[i]);
        }
    }
    const Profile apart = in_layout(profile, {});
    if (apart.points.empty())
        return std::unexpected(
            Error{.message = fmt::format(
                      "the profile of kernel {} has no point whose strides are all larger than 1 and "
                      "whose flags are set",
                      profile.kernel_id)});
    if (auto fitted = fit_all(apart, options, fits); !fitted) return std::unexpected(fitted.error());
    if (auto fitted = fit_layouts(profile, options, fits); !fitted) return std::unexpected(fitted.error());
    drop_unused_variables(fits);
    return fits;
}

std::expected<KernelFits, Error> fit_kernel(const Profile& profile,
                                            const analysis::KernelDescription& description) {
    auto fits = fit_kernel(profile);
    for (std::size_t i = 0; fits && i < fits->profiled.size() && i < description.data.size(); ++i)
        fits->profiled[i].is_number = profiler::is_float_type(description.data[i].type);
    return fits;
}

}  // namespace trimtab::driver_gen
