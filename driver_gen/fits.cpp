// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/fits.h"

#include <algorithm>

#include "driver_gen/doubts.h"
#include "trimtab/driver.h"

namespace trimtab::driver_gen {

namespace {

using profiler::SpecialValue;

// The order of these operations is that of the printed C (c_metrics.cpp): change both or neither.
double sum_of(const std::vector<Monomial>& sum, std::span<const double> values) {
    double total = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        double term = sum[i].coefficient;
        for (const auto& [variable, power] : sum[i].exponents)
            for (int n = 0; n < power; ++n) term = term * values[variable];
        for (const auto& [variable, power] : sum[i].exponents)
            for (int n = 0; n > power; --n) term = term / values[variable];
        total = i == 0 ? term : total + term;
    }
    return total;
}

double clamped(double value, const FittedMetric& fit) {
    return value < fit.least ? fit.least : value > fit.most ? fit.most : value;
}

}  // namespace

std::string_view name(Form form) {
    switch (form) {
        case Form::constant:
            return "constant";
        case Form::polynomial:
            return "polynomial";
        case Form::laurent:
            return "laurent";
        case Form::rational:
            return "rational";
    }
    return "";
}

const FittedMetric* Layout::find(model::Metric metric) const {
    const auto found = std::ranges::find(metrics, metric, &FittedMetric::metric);
    return found == metrics.end() ? nullptr : &*found;
}

const FittedMetric* KernelFits::find(model::Metric metric) const {
    const auto found = std::ranges::find(metrics, metric, &FittedMetric::metric);
    return found == metrics.end() ? nullptr : &*found;
}

double KernelFits::fitted(std::span<const Piece> pieces, std::span<const double> data, double x, double y,
                          double z) const {
    const auto value_of = [&](std::uint32_t variable) {
        return driver_gen::evaluate(variables[variable], ranges, data, x, y, z);
    };
    const auto piece = std::ranges::find_if(pieces, [&](const Piece& candidate) {
        return !candidate.when || value_of(candidate.when->variable) < candidate.when->below;
    });
    if (piece == pieces.end()) return 0;
    std::vector<double> values(variables.size());
    for (const auto* sum : {&piece->numerator, &piece->denominator})
        for (const Monomial& monomial : *sum)
            for (const auto& [variable, power] : monomial.exponents) values[variable] = value_of(variable);
    double value = sum_of(piece->numerator, values);
    if (!piece->denominator.empty()) value = value / sum_of(piece->denominator, values);
    return value;
}

std::vector<SpecialValue> KernelFits::special_values() const {
    std::vector<SpecialValue> values = special;
    for (std::uint32_t i = 0; i < profiled.size(); ++i)
        if (profiled[i].is_stride) values.push_back({.data = i, .value = 1});
    std::ranges::sort(values);
    return values;
}

std::optional<std::size_t> KernelFits::layout_of(std::span<const double> data) const {
    std::vector<SpecialValue> values = special_values();
    std::erase_if(values, [&](const SpecialValue& special) {
        return special.data >= data.size() || data[special.data] != special.value;
    });
    if (values.empty()) return 0;
    const auto found = std::ranges::find(layouts, values, &Layout::values);
    if (found == layouts.end()) return std::nullopt;
    return static_cast<std::size_t>(found - layouts.begin()) + 1;
}

const FittedMetric* KernelFits::find(model::Metric metric, std::span<const double> data) const {
    if (const std::size_t layout = layouts.empty() ? 0 : layout_of(data).value_or(0); layout != 0) {
        if (const FittedMetric* const own = layouts[layout - 1].find(metric)) return own;
    }
    return find(metric);
}

double KernelFits::evaluate(model::Metric metric, std::span<const double> data, double x, double y,
                            double z) const {
    const FittedMetric* fit = find(metric, data);
    if (fit == nullptr) return 0;
    const double raw = fitted(fit->pieces, data, x, y, z), value = clamped(raw, *fit);
    if (value > 0) return value;
    const auto range = none_of(*this, *fit);
    if (!range) return value;
    // Where it may be none, what is near that is.
    if (range->least_times == 0 &&
        raw >= -slack_of(evaluate(model::Metric::warp_instructions, data, x, y, z)))
        return value;
    double sum = evaluate(range->others[0], data, x, y, z);
    for (std::size_t i = 1; i < range->others.size(); ++i)
        sum = sum + evaluate(range->others[i], data, x, y, z);
    return range->none_times * sum;
}

// Is it one of the values of a stride or a mode that were profiled apart?
bool KernelFits::is_near_at(std::span<const double> data, std::size_t i) const {
    if ((!profiled[i].is_stride && profiled[i].varied) || !layout_of(data)) return false;
    const std::vector<SpecialValue> values = special_values();
    return std::ranges::find(values, SpecialValue{static_cast<std::uint32_t>(i), data[i]}) != values.end();
}

// The order is that of the printed C (c_doubts.cpp).
std::uint32_t KernelFits::outside(std::span<const double> data) const {
    const bool is_of_layout = layout_of(data).has_value();
    for (std::size_t i = 0; i < profiled.size() && i < data.size(); ++i) {
        if (!profiled[i].varied && profiled[i].is_number) continue;
        const bool is_near = is_near_at(data, i);
        if (profiled[i].varied && !is_near && !(data[i] >= (profiled[i].is_stride ? profiled[i].least : 0)))
            return TRIMTAB_DOUBT(TRIMTAB_DOUBT_TOO_SMALL, i);
        if (!profiled[i].varied && !is_near && !(data[i] >= profiled[i].least && data[i] <= profiled[i].most))
            return TRIMTAB_DOUBT(TRIMTAB_DOUBT_OTHER_VALUE, i);
    }
    if (!is_of_layout)
        for (const SpecialValue& value : special)
            if (data[value.data] == value.value) return TRIMTAB_DOUBT(TRIMTAB_DOUBT_OTHER_VALUE, value.data);
    const auto range = ranges.evaluate(data);
    return range[0] < range[1] && range[2] < range[3] && range[4] < range[5] ? 0 : TRIMTAB_DOUBT_IDLE;
}

std::uint32_t KernelFits::other_number(std::span<const double> data) const {
    for (std::size_t i = 0; i < profiled.size() && i < data.size(); ++i)
        if (!profiled[i].varied && profiled[i].is_number && !is_near_at(data, i) &&
            !(data[i] >= profiled[i].least && data[i] <= profiled[i].most))
            return TRIMTAB_DOUBT(TRIMTAB_DOUBT_NUMBER, i);
    return 0;
}

model::RationalProgram::MetricFunction metric_function(const KernelFits& fits, std::span<const double> data) {
    return [&fits, values = std::vector<double>(data.begin(), data.end())](model::Metric metric, double x,
                                                                           double y, double z) {
        return fits.evaluate(metric, values, x, y, z);
    };
}

}  // namespace trimtab::driver_gen
