// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/c_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "driver_gen/doubts.h"

namespace trimtab::driver_gen {

namespace {

// Leaving out a first term of 0 and factors of 1 changes no bit.
std::string linear(const LinearForm& form, const std::vector<std::string>& data_names) {
    std::string text;
    if (form.constant != 0 || form.terms.empty()) text = c_literal(form.constant);
    for (const auto& [data, factor] : form.terms) {
        if (!text.empty()) text += " + ";
        if (factor != 1) text += c_literal(factor) + " * ";
        text += fmt::format("data[{}] /* {} */", data, c_comment_text(data_names[data]));
    }
    return text;
}

std::string in_layout(std::size_t layout) {
    return layout == 0 ? "" : fmt::format("_in_{}", layout);
}

}  // namespace

CMetrics::CMetrics(const KernelFits& fits) : fits_(fits) {
    CNames names;
    for (const Variable& variable : fits.variables)
        names_.push_back(names.unique(name(variable, fits.data_names)));
}

std::string CMetrics::fill_function(const std::vector<model::Metric>& metrics, bool and_rivals) {
    std::vector<bool> wanted(fits_.variables.size(), false);
    const auto want = [&](const std::vector<Piece>& pieces) {
        for (const Piece& piece : pieces) {
            if (piece.when) wanted[piece.when->variable] = true;
            for (const auto* part : {&piece.numerator, &piece.denominator})
                for (const Monomial& monomial : *part)
                    for (const auto& [variable, power] : monomial.exponents) wanted[variable] = true;
        }
    };
    // What they are as few as, where they come out as none.
    std::vector<model::Metric> asked = metrics;
    const auto ask_others = [&](const std::vector<FittedMetric>& fits) {
        for (const FittedMetric& fit : fits)
            if (const auto range = none_of(fits_, fit);
                range && std::ranges::find(metrics, fit.metric) != metrics.end()) {
                asked.insert(asked.end(), range->others.begin(), range->others.end());
                if (range->least_times == 0) asked.push_back(model::Metric::warp_instructions);
            }
    };
    ask_others(fits_.metrics);
    for (const Layout& layout : fits_.layouts) ask_others(layout.metrics);
    const auto want_those = [&](const std::vector<FittedMetric>& fits) {
        for (const FittedMetric& fit : fits) {
            if (std::ranges::find(asked, fit.metric) == asked.end()) continue;
            want(fit.pieces);
            if (and_rivals) std::ranges::for_each(fit.rivals, want);
        }
    };
    want_those(fits_.metrics);
    for (const Layout& layout : fits_.layouts) want_those(layout.metrics);
    auto found = std::ranges::find(fills_, wanted);
    if (found == fills_.end()) found = fills_.insert(found, wanted);
    return fmt::format("trimtab_fill_{}", found - fills_.begin());
}

std::string CMetrics::metric_function(model::Metric metric) const {
    return fits_.find(metric) == nullptr ? "" : fmt::format("metric_{}", model::name(metric));
}

std::string CMetrics::fitted_function(model::Metric metric, std::size_t layout) const {
    return fits_.find(metric) == nullptr
               ? ""
               : fmt::format("trimtab_fitted_{}{}", model::name(metric), in_layout(layout));
}

std::string CMetrics::rival_function(model::Metric metric, std::size_t rival, std::size_t layout) const {
    return fmt::format("trimtab_rival_{}_of_{}{}", rival, model::name(metric), in_layout(layout));
}

std::string CMetrics::variables_struct() const {
    std::string text = "/* What the metrics are functions of. */\ntypedef struct trimtab_variables {\n";
    for (const std::string& member : names_) text += fmt::format("    double {};\n", member);
    if (names_.empty()) text += "    double none;\n";
    if (!fits_.layouts.empty()) text += "    int layout;\n";
    return text +
           "} trimtab_variables;\n\n"
           "/* A box of threads, and its variables: most blocks share some of their boxes. */\n"
           "typedef struct trimtab_box {\n    double x, y, z;\n    trimtab_variables variables;\n} "
           "trimtab_box;\n";
}

std::string CMetrics::ranges_function() const {
    std::string text =
        "/* The indices [first, end) that pass the kernel's guards: first.x, end.x, first.y ... */\n"
        "static void trimtab_ranges(const double* data, double range[6]) {\n";
    for (std::size_t d = 0; d < 3; ++d) {
        text +=
            c_wrapped(fmt::format("range[{}] = {};", 2 * d, linear(fits_.ranges.first[d], fits_.data_names)),
                      "    ") +
            "\n";
        text += c_wrapped(
                    fmt::format("range[{}] = {};", 2 * d + 1, linear(fits_.ranges.end[d], fits_.data_names)),
                    "    ") +
                "\n";
        if (const std::uint32_t extent = fits_.ranges.extent[d]; extent != profiler::no_data)
            text += fmt::format("    if (data[{0}] < range[{1}]) range[{1}] = data[{0}]; /* {2} */\n", extent,
                                2 * d + 1, c_comment_text(fits_.data_names[extent]));
        text += fmt::format("    range[{0}] = range[{0}] > 0 ? range[{0}] : 0;\n", 2 * d);
    }
    return text + "    (void)data;\n}\n";
}

std::string CMetrics::fill_body(const std::vector<bool>& wanted) const {
    constexpr std::array covered{VariableKind::covered_x, VariableKind::covered_y, VariableKind::covered_z};
    std::string text;
    const auto wants = [&](VariableKind kind) {
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (wanted[i] && fits_.variables[i].kind == kind) return true;
        return false;
    };
    const bool covers = wants(VariableKind::covered_warps) || wants(VariableKind::covered_lanes) ||
                        wants(VariableKind::boxes);
    for (std::size_t d = 0; d < 3; ++d)
        if (covers || wants(covered[d]))
            text += fmt::format("    const double boxes_{0} = trimtab_boxes(range[{1}], range[{2}], {0});\n",
                                "xyz"[d], 2 * d, 2 * d + 1);
    if (wants(VariableKind::covered_warps) || wants(VariableKind::covered_lanes))
        text +=
            "    const double boxes[3] = {boxes_x, boxes_y, boxes_z};\n"
            "    const double warps = trimtab_covered_warps(range, boxes, x, y, z);\n";
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        const Variable& variable = fits_.variables[i];
        const auto alignment = [&](std::string_view size) {
            std::string divisor =
                fmt::format("trimtab_common_divisor({}, {})", size, c_literal(variable.unit));
            if (variable.data == Variable::no_data) return divisor;
            return variable.offset == 0
                       ? fmt::format("trimtab_common_divisor({}, data[{}])", divisor, variable.data)
                       : fmt::format("trimtab_common_divisor({}, data[{}] + {})", divisor, variable.data,
                                     c_literal(variable.offset));
        };
        std::string value;
        switch (variable.kind) {
            case VariableKind::data:
                value = fmt::format("data[{}]", variable.data);
                break;
            case VariableKind::box_x:
                value = "x";
                break;
            case VariableKind::box_y:
                value = "y";
                break;
            case VariableKind::box_z:
                value = "z";
                break;
            case VariableKind::covered_x:
                value = "trimtab_covered_indices(range[0], range[1], x, boxes_x)";
                break;
            case VariableKind::covered_y:
                value = "trimtab_covered_indices(range[2], range[3], y, boxes_y)";
                break;
            case VariableKind::covered_z:
                value = "trimtab_covered_indices(range[4], range[5], z, boxes_z)";
                break;
            case VariableKind::lanes_x:
                value = "trimtab_lanes_x(x)";
                break;
            case VariableKind::warp_rows:
                value = "trimtab_rows_met(x, y * z)";
                break;
            case VariableKind::warp_planes:
                value = "trimtab_rows_met(x * y, z)";
                break;
            case VariableKind::warps:
                value = "trimtab_warps(x, y, z)";
                break;
            case VariableKind::boxes:
                value = "boxes_x * boxes_y * boxes_z";
                break;
            case VariableKind::covered_warps:
                value = "warps";
                break;
            case VariableKind::covered_lanes:
                value = "trimtab_covered_lanes(range, boxes, warps)";
                break;
            case VariableKind::alignment:
                value = alignment("x");
                break;
            case VariableKind::alignment_y:
                value = alignment("y");
                break;
            case VariableKind::alignment_rows:
                value = alignment("trimtab_rows_met(x, y * z)");
                break;
            case VariableKind::remainder:
                value =
                    fmt::format("trimtab_remainder(data[{}], {})", variable.data, c_literal(variable.unit));
                break;
            case VariableKind::has_remainder:
                value = fmt::format("trimtab_remainder(data[{}], {}) > 0 ? 1 : 0", variable.data,
                                    c_literal(variable.unit));
                break;
            case VariableKind::halvings:
                value = "trimtab_halvings(x, y, z)";
                break;
        }
        text += c_wrapped(fmt::format("v->{} = {};", names_[i], value), "    ") + "\n";
    }
    return text;
}

std::string CMetrics::fill_functions() const {
    std::string text;
    for (std::size_t n = 0; n < fills_.size(); ++n)
        text += fmt::format(
            "static const trimtab_variables* trimtab_fill_{}(const trimtab_context* context, int place, "
            "double x, "
            "double y,\n"
            "                                               double z) {{\n"
            "    const double* data = context->data;\n"
            "    const double* range = context->range;\n"
            "    trimtab_box* box = (trimtab_box*)context->boxes + place;\n"
            "    trimtab_variables* v = &box->variables;\n"
            "    if (box->x == x && box->y == y && box->z == z) return v;\n"
            "    box->x = x, box->y = y, box->z = z;\n{}{}"
            "    (void)data, (void)range;\n"
            "    return v;\n}}\n\n",
            n, fill_body(fills_[n]), fits_.layouts.empty() ? "" : "    v->layout = trimtab_layout(data);\n");
    return text;
}

// The operations and their order are KernelFits::evaluate's.
std::string CMetrics::sum(const std::vector<Monomial>& monomials) const {
    if (monomials.empty()) return "0.0";
    std::string text;
    for (const Monomial& monomial : monomials) {
        const bool minus = !text.empty() && std::signbit(monomial.coefficient);
        if (!text.empty()) text += minus ? " - " : " + ";
        text += c_literal(minus ? -monomial.coefficient : monomial.coefficient);
        for (const auto& [variable, power] : monomial.exponents)
            for (int n = 0; n < power; ++n) text += " * v->" + names_[variable];
        for (const auto& [variable, power] : monomial.exponents)
            for (int n = 0; n > power; --n) text += " / v->" + names_[variable];
    }
    return text;
}

std::string CMetrics::pieces_text(const std::vector<Piece>& pieces) const {
    std::string text;
    for (const Piece& piece : pieces) {
        std::string indent = "    ";
        if (piece.when) {
            text += fmt::format("    if (v->{} < {}) {{\n", names_[piece.when->variable],
                                c_literal(piece.when->below));
            indent += "    ";
        }
        std::string value = sum(piece.numerator);
        if (!piece.denominator.empty()) {
            text += c_comment("No coefficient is negative and no variable is: never below 1.", indent) + "\n";
            text += c_wrapped("const double denominator = " + sum(piece.denominator) + ";", indent) + "\n";
            value = "(" + value + ") / denominator";
        }
        text += c_wrapped(fmt::format("return {};", value), indent) + "\n";
        if (piece.when) text += "    }\n";
    }
    return text;
}

std::string CMetrics::layout_function() const {
    if (fits_.layouts.empty() && fits_.special.empty()) return "";
    const std::vector<profiler::SpecialValue> special = fits_.special_values();
    const auto condition = [&](const std::vector<profiler::SpecialValue>& values) {
        std::string text;
        for (const profiler::SpecialValue& one : special)
            text += fmt::format("{}data[{}] {} {:g}", text.empty() ? "" : " && ", one.data,
                                std::ranges::find(values, one) == values.end() ? "!=" : "==", one.value);
        return text;
    };
    std::string text =
        "/* Strides of 1 have neighbours side by side; flags and modes decide what is done. 0: D has no such "
        "value; else\n"
        "   which, as they were profiled; -1: they were not profiled so. */\n"
        "static int trimtab_layout(const double* data) {\n";
    text += c_wrapped(fmt::format("if ({}) return 0;", condition({})), "    ") + "\n";
    for (std::size_t layout = 0; layout < fits_.layouts.size(); ++layout)
        text +=
            c_wrapped(fmt::format("if ({}) return {};", condition(fits_.layouts[layout].values), layout + 1),
                      "    ") +
            "\n";
    return text + "    return -1;\n}\n\n";
}

std::string CMetrics::fit_text(const FittedMetric& fit, std::size_t layout,
                               const std::string& clamped_name) const {
    const auto& info = model::metric_table()[static_cast<std::size_t>(fit.metric)];
    const FitQuality& q = fit.quality;
    std::string text = c_comment(fmt::format("{}: {} ({}).", info.name, info.meaning, info.unit)) + "\n";
    text +=
        c_comment(fmt::format(
            "A {} fit{}, the best of {} forms: {} points, relative error {:.2g} on average, {:.2g} at most; "
            "{} points that it did not see, {:.2g} and {:.2g}. Rank {} of {} monomials, condition {:.2g}, "
            "degree at most {} in D and {} in the box.{}",
            name(fit.form), fit.exact ? ", exact" : "", q.forms_compared, q.points, q.mean_error, q.max_error,
            q.held_out_points, q.held_out_mean_error, q.held_out_max_error, q.rank, q.columns, q.condition,
            q.data_degree, q.box_degree,
            fit.data_dependent ? " It changes with the contents of the arrays." : "")) +
        "\n";
    const auto function = [](const std::string& name, const std::string& body) {
        return fmt::format("static double {}(const trimtab_variables* v) {{\n    (void)v;\n{}}}\n\n", name,
                           body);
    };
    const auto clamped = [&](const std::string& name) {
        return c_wrapped(fmt::format("return trimtab_clamp({}(v), {}, {});", name, c_literal(fit.least),
                                     c_literal(fit.most)),
                         "    ") +
               "\n";
    };
    const std::string fitted = fitted_function(fit.metric, layout);
    text += function(fitted, pieces_text(fit.pieces));
    if (const auto range = none_of(fits_, fit)) {
        std::string sum;
        for (const model::Metric other : range->others)
            sum += fmt::format("{}{}(v)", sum.empty() ? "" : " + ", metric_function(other));
        const auto line = [](const std::string& statement) { return c_wrapped(statement, "    ") + "\n"; };
        std::string body = line(fmt::format("const double value = trimtab_clamp({}(v), {}, {});", fitted,
                                            c_literal(fit.least), c_literal(fit.most)));
        if (range->least_times == 0)
            body += line(fmt::format("if (value > 0 || {}(v) >= -(1.0 + {} * {})) return value;", fitted,
                                     c_literal(slack_share),
                                     fits_.find(model::Metric::warp_instructions) == nullptr
                                         ? "0.0"
                                         : metric_function(model::Metric::warp_instructions) + "(v)"));
        body += line(fmt::format("return value > 0 ? value : {} * ({});", c_literal(range->none_times), sum));
        text += (range->least_times == 0 ? "/* Of what comes out below 0 no more is known. */\n"
                                         : "/* A request touches one at least. */\n") +
                function(clamped_name, body);
    } else {
        text += function(clamped_name, clamped(fitted));
    }
    for (std::size_t i = 0; i < fit.rivals.size(); ++i) {
        const std::string name = rival_function(fit.metric, i, layout);
        text +=
            "/* It tells the profile as well. */\n" + function(name + "_fitted", pieces_text(fit.rivals[i]));
        text += function(name, clamped(name + "_fitted"));
    }
    return text;
}

std::string CMetrics::metric_text(const FittedMetric& fit) const {
    const std::string name = metric_function(fit.metric);
    std::string own, choice;
    for (std::size_t layout = 1; layout <= fits_.layouts.size(); ++layout) {
        const FittedMetric* const found = fits_.layouts[layout - 1].find(fit.metric);
        if (found == nullptr) continue;
        own += fit_text(*found, layout, name + in_layout(layout));
        choice += fmt::format("    if (v->layout == {}) return {}(v);\n", layout, name + in_layout(layout));
    }
    if (own.empty()) return fit_text(fit, 0, name);
    return fit_text(fit, 0, name + "_apart") + own +
           fmt::format(
               "static double {0}(const trimtab_variables* v) {{\n{1}    return {0}_apart(v);\n}}\n\n", name,
               choice);
}

std::string CMetrics::metric_functions() const {
    std::string text;
    for (const FittedMetric& fit : fits_.metrics) text += metric_text(fit);
    return text;
}

}  // namespace trimtab::driver_gen
