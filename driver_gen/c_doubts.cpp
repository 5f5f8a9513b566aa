// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/c_doubts.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver_gen/doubts.h"

namespace trimtab::driver_gen {

namespace {

using model::Metric;

bool reads(const model::RationalProgram& program, Metric metric) {
    const std::vector<Metric> used = program.metrics_used();
    return std::ranges::find(used, metric) != used.end();
}

std::string data_dependent(const KernelFits& fits, const model::RationalProgram& program) {
    std::string dependent;
    for (const FittedMetric& fit : fits.metrics)
        dependent += reads(program, fit.metric) && fit.data_dependent ? " 1," : " 0,";
    return "/* By metric, for those that the model reads: does it change with the contents of the arrays? "
           "*/\n" +
           c_wrapped(fmt::format("static const int trimtab_data_dependent[] = {{{} }};",
                                 dependent.empty() ? " 0," : dependent),
                     "") +
           "\n\n";
}

std::string doubt(const char* why, std::size_t place) {
    return fmt::format("TRIMTAB_DOUBT({}, {})", why, place);
}

// other_values() of the metrics that the model reads.
class OtherValuesText {
  public:
    OtherValuesText(const KernelFits& fits, const CMetrics& metrics)
        : fits_(fits), metrics_(metrics), bounds_(metric_bounds(fits)) {}
    [[nodiscard]] std::string function(const model::RationalProgram& program, const std::string& fill) const;

  private:
    [[nodiscard]] std::string value(Metric metric) const { return metrics_.metric_function(metric) + "(v)"; }
    [[nodiscard]] std::string sum_of(const std::vector<Metric>& metrics) const;
    // Of the metric at this place, by the fit that a layout has of it.
    [[nodiscard]] std::string statements(std::size_t place, const FittedMetric& fit, std::size_t layout,
                                         const std::string& indent) const;

    const KernelFits& fits_;
    const CMetrics& metrics_;
    std::vector<MetricBound> bounds_;
};

std::string OtherValuesText::sum_of(const std::vector<Metric>& metrics) const {
    std::string sum = value(metrics[0]);
    for (std::size_t n = 1; n < metrics.size(); ++n) sum += " + " + value(metrics[n]);
    return sum;
}

std::string OtherValuesText::statements(std::size_t place, const FittedMetric& fit, std::size_t layout,
                                        const std::string& indent) const {
    const auto line = [&](const std::string& statement) { return c_wrapped(statement, indent) + "\n"; };
    const std::string fitted = metrics_.fitted_function(fit.metric, layout) + "(v)";
    std::string known = "0", text;
    if (const auto range = range_of(fits_, fit.metric)) {
        const std::string all = sum_of(range->others);
        known = fmt::format(
            "trimtab_add_range({0}, {1} * ({2}), trimtab_times({3}, threads) * ({2}), least + {4}, most + "
            "{4})",
            value(fit.metric), c_literal(range->least_times), all, c_literal(range->times), place);
    }
    if (const auto most = most_of_mean(fit.metric))
        known = fmt::format("trimtab_add_range({0}, 1.0, {1}, least + {2}, most + {2})", value(fit.metric),
                            c_literal(*most), place);
    text += line(
        fmt::format("if (trimtab_is_endless({})) return {};", fitted, doubt("TRIMTAB_DOUBT_ERROR", place)));
    std::string is_known = fmt::format("trimtab_is_count({}, slack)", fitted);
    if (has_some(fits_, fit)) {
        is_known = fmt::format("trimtab_is_some({})", fitted);
        std::string last = "trimtab_all_boxes(context->range, block.x, block.y, block.z)";
        if (fit.metric == Metric::active_warps)
            last = "trimtab_warps(block.x, block.y, block.z)";
        else if (fit.metric == Metric::footprint_sectors)
            last = fmt::format("{} * ({})", value(Metric::active_warps), sum_of(touching));
        known = fmt::format("trimtab_add_range({0}, 1.0, {1}, least + {2}, most + {2})", value(fit.metric),
                            last, place);
    }
    text += line(
        fmt::format("if (!{} && !{}) return {};", is_known, known, doubt("TRIMTAB_DOUBT_NO_COUNT", place)));
    if (!fit.exact)
        text += line(fmt::format("most[{0}] = trimtab_max(most[{0}], {1});", place,
                                 c_literal(1 + fit.quality.held_out_max_error)));
    for (std::size_t rival = 0; rival < fit.rivals.size(); ++rival)
        text += line(
            fmt::format("if (!trimtab_add_rival({0}, {1}(v), slack, least + {2}, most + {2})) return {3};",
                        value(fit.metric), metrics_.rival_function(fit.metric, rival, layout), place,
                        doubt("TRIMTAB_DOUBT_RIVALS", place)));
    for (const MetricBound& bound : bounds_) {
        if (bound.metric != fit.metric) continue;
        const std::string sum = sum_of(bound.others);
        text += line(fmt::format("trimtab_add_bound({}, trimtab_times({}, threads) * ({}), least + {});",
                                 value(fit.metric), c_literal(bound.times), sum, place));
        if (is_limit(fits_, bound))
            text += line(fmt::format("trimtab_add_limit({}, trimtab_times({}, threads) * ({}), times + {});",
                                     value(fit.metric), c_literal(bound.times), sum, place));
    }
    return text;
}

std::string OtherValuesText::function(const model::RationalProgram& program, const std::string& fill) const {
    const bool has_instructions = fits_.find(Metric::warp_instructions) != nullptr;
    std::string text =
        "/* By metric that the model reads, what else it may be: by its error on points held out, by what "
        "others say\n"
        "   that tell the profile as well, and by what no launch exceeds. */\n"
        "static uint32_t trimtab_other_values(const trimtab_context* context, trimtab_dim3 block, double* "
        "least,\n"
        "                                     double* most, double* times) {\n" +
        fmt::format(
            "    const trimtab_variables* v =\n        {}(context, trimtab_box_count, block.x, block.y, "
            "block.z);\n",
            fill) +
        "    const double threads = (double)block.x * block.y * block.z;\n" +
        c_wrapped(fmt::format("const double slack = 1.0 + {} * {};", c_literal(slack_share),
                              has_instructions ? value(Metric::warp_instructions) : "0.0"),
                  "    ") +
        "\n";
    for (std::size_t i = 0; i < fits_.metrics.size(); ++i) {
        const FittedMetric& fit = fits_.metrics[i];
        if (!reads(program, fit.metric)) continue;
        std::string in_layouts;
        for (std::size_t layout = 1; layout <= fits_.layouts.size(); ++layout)
            if (const FittedMetric* const own = fits_.layouts[layout - 1].find(fit.metric))
                in_layouts += fmt::format("{} (v->layout == {}) {{\n{}    }}",
                                          in_layouts.empty() ? "    if" : " else if", layout,
                                          statements(i, *own, layout, "        "));
        text += in_layouts.empty() ? statements(i, fit, 0, "    ")
                                   : in_layouts + " else {\n" + statements(i, fit, 0, "        ") + "    }\n";
    }
    return text +
           "    (void)v, (void)threads, (void)slack, (void)least, (void)most, (void)times;\n    return "
           "0;\n}\n\n";
}

// Of a stride: and not one of the few values that were profiled beside the large ones. Of a mode: and not another one.
std::string near_text(const KernelFits& fits, std::size_t stride) {
    if ((!fits.profiled[stride].is_stride && fits.profiled[stride].varied) || fits.layouts.empty()) return "";
    std::string values;
    for (const profiler::SpecialValue& special : fits.special_values())
        if (special.data == stride)
            values += fmt::format("{}data[{}] == {:g}", values.empty() ? "" : " || ", stride, special.value);
    if (values.empty()) return "";
    return fmt::format(" && !(({}) && trimtab_layout(data) >= 0)", values);
}

std::string outside_profile(const KernelFits& fits) {
    std::string sizes, numbers;
    for (std::size_t i = 0; i < fits.profiled.size(); ++i) {
        const ProfiledParameter& parameter = fits.profiled[i];
        const std::string condition =
            parameter.varied
                ? fmt::format("!(data[{}] >= {}){}", i, c_literal(parameter.is_stride ? parameter.least : 0),
                              near_text(fits, i))
                : fmt::format("!(data[{0}] >= {1} && data[{0}] <= {2}){3}", i, c_literal(parameter.least),
                              c_literal(parameter.most), near_text(fits, i));
        const bool is_number = parameter.is_number && !parameter.varied;
        const char* const why = is_number          ? "TRIMTAB_DOUBT_NUMBER"
                                : parameter.varied ? "TRIMTAB_DOUBT_TOO_SMALL"
                                                   : "TRIMTAB_DOUBT_OTHER_VALUE";
        (is_number ? numbers : sizes) += fmt::format("    if ({}) return {}; /* {} */\n", condition,
                                                     doubt(why, i), c_comment_text(fits.data_names[i]));
    }
    for (const profiler::SpecialValue& special : fits.special)
        sizes += fmt::format("    if (data[{}] == {:g} && trimtab_layout(data) < 0) return {};\n",
                             special.data, special.value, doubt("TRIMTAB_DOUBT_OTHER_VALUE", special.data));
    return "/* Not 0 where the profile cannot speak for D. */\n"
           "static uint32_t trimtab_outside_profile(const trimtab_context* context) {\n"
           "    const double* data = context->data;\n    const double* range = context->range;\n" +
           sizes +
           "    (void)data;\n"
           "    if (range[0] < range[1] && range[2] < range[3] && range[4] < range[5]) return 0;\n"
           "    return TRIMTAB_DOUBT_IDLE;\n}\n\n"
           "/* Not 0 where numbers of D that reach a branch are none that were profiled. */\n"
           "static uint32_t trimtab_has_other_values(const trimtab_context* context) {\n"
           "    const double* data = context->data;\n" +
           numbers + "    (void)data;\n    return 0;\n}\n\n";
}

}  // namespace

std::string print_doubts(const KernelFits& fits, const model::RationalProgram& program,
                         const CMetrics& metrics, const std::string& fill) {
    return data_dependent(fits, program) + OtherValuesText(fits, metrics).function(program, fill) +
           outside_profile(fits);
}

}  // namespace trimtab::driver_gen
