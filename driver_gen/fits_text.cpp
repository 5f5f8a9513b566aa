// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits as people read them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "driver_gen/fits.h"

namespace trimtab::driver_gen {

namespace {

std::string factors(const Monomial& monomial, const KernelFits& fits) {
    std::string over, under;
    for (const auto& [variable, power] : monomial.exponents) {
        std::string& side = power > 0 ? over : under;
        if (!side.empty()) side += ' ';
        side += name(fits.variables[variable], fits.data_names);
        if (std::abs(power) > 1) side += fmt::format("^{}", std::abs(power));
    }
    if (under.empty()) return over;
    const bool several = under.contains(' ') && !under.contains("alignment");
    return over + (several ? " / (" + under + ")" : " / " + under);
}

std::string linear_text(const LinearForm& form, const KernelFits& fits) {
    std::vector<Monomial> sum;
    for (const auto& [data, factor] : form.terms)
        sum.push_back({.coefficient = factor, .exponents = {{data, 1}}});
    if (form.constant != 0 || sum.empty()) sum.push_back({.coefficient = form.constant, .exponents = {}});
    KernelFits names;
    names.data_names = fits.data_names;
    for (std::uint32_t i = 0; i < fits.data_names.size(); ++i)
        names.variables.push_back({.kind = VariableKind::data, .data = i});
    return to_text(sum, names);
}

std::string percent(double error) {
    return fmt::format("{:.3g} %", 100 * error);
}

}  // namespace

std::string to_text(std::span<const Monomial> sum, const KernelFits& fits) {
    if (sum.empty()) return "0";
    std::string text;
    for (const Monomial& monomial : sum) {
        const double size = std::abs(monomial.coefficient);
        if (!text.empty())
            text += monomial.coefficient < 0 ? " - " : " + ";
        else if (monomial.coefficient < 0)
            text += "-";
        const std::string rest = factors(monomial, fits);
        const bool divides = rest.starts_with(" /");
        if (size != 1 || rest.empty() || divides) {
            text += fmt::format("{:.6g}", size);
            if (!rest.empty() && !divides) text += ' ';
        }
        text += rest;
    }
    return text;
}

namespace {

std::string metric_text(const KernelFits& fits, const FittedMetric* fit) {
    const model::Metric metric = fit->metric;
    std::string text;
    for (const Piece& piece : fit->pieces) {
        std::string value = to_text(piece.numerator, fits);
        if (!piece.denominator.empty())
            value = "(" + value + ") / (" + to_text(piece.denominator, fits) + ")";
        if (piece.when)
            value +=
                fmt::format("    where {} < {:g}",
                            name(fits.variables[piece.when->variable], fits.data_names), piece.when->below);
        else if (fit->pieces.size() > 1)
            value += "    elsewhere";
        text += text.empty() ? fmt::format("{} = {}\n", model::name(metric), value)
                             : fmt::format("{:{}}{}\n", "", model::name(metric).size() + 3, value);
    }
    const FitQuality& q = fit->quality;
    text += fmt::format(
        "    {}{}, {} points, error mean {} most {}; {} points held out, error mean {} most {}\n",
        name(fit->form), fit->exact ? " (exact)" : "", q.points, percent(q.mean_error), percent(q.max_error),
        q.held_out_points, percent(q.held_out_mean_error), percent(q.held_out_max_error));
    text += fmt::format(
        "    rank {} of {} monomials, condition {:.3g}, degree at most {} in D and {} in the box; "
        "best of {} forms{}\n",
        q.rank, q.columns, q.condition, q.data_degree, q.box_degree, q.forms_compared,
        fit->data_dependent ? "; depends on the data" : "");
    return text;
}

// "out_col = 1, in_col = 1"
std::string values_text(const KernelFits& fits, const Layout& layout) {
    std::string text;
    for (const profiler::SpecialValue& special : layout.values)
        text += fmt::format("{}{} = {:g}", text.empty() ? "" : ", ", fits.data_names[special.data],
                            special.value);
    return text;
}

}  // namespace

std::string to_text(const KernelFits& fits, model::Metric metric) {
    const FittedMetric* fit = fits.find(metric);
    if (fit == nullptr) return fmt::format("{}: not fitted\n", model::name(metric));
    std::string text = metric_text(fits, fit);
    for (const Layout& layout : fits.layouts)
        if (const FittedMetric* const own = layout.find(metric))
            text += fmt::format("if {}:\n{}", values_text(fits, layout), metric_text(fits, own));
    return text;
}

std::string to_text(const KernelFits& fits) {
    std::string text;
    for (std::size_t i = 0; i < fits.data_names.size() && i < fits.profiled.size(); ++i) {
        const ProfiledParameter& parameter = fits.profiled[i];
        if (parameter.is_stride)
            text += fmt::format("{} profiled {}from {:g} to {:g}: a stride\n", fits.data_names[i],
                                fits.layouts.empty() ? "" : "at 1 and ", parameter.least, parameter.most);
        else
            text += parameter.varied || parameter.least < parameter.most
                        ? fmt::format("{} profiled from {:g} to {:g}\n", fits.data_names[i], parameter.least,
                                      parameter.most)
                        : fmt::format("{} profiled at {:g} only\n", fits.data_names[i], parameter.least);
    }
    for (std::size_t d = 0; d < 3; ++d)
        text += fmt::format("{}: {} <= {} < {}\n", "active indices", linear_text(fits.ranges.first[d], fits),
                            "xyz"[d], linear_text(fits.ranges.end[d], fits));
    for (const FittedMetric& fit : fits.metrics) text += to_text(fits, fit.metric);
    return text;
}

}  // namespace trimtab::driver_gen
