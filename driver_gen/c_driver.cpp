// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/c_driver.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver_gen/c_annotation.h"
#include "driver_gen/c_doubts.h"
#include "driver_gen/c_metrics.h"
#include "driver_gen/c_program.h"
#include "driver_gen/embedded_texts.h"

namespace trimtab::driver_gen {

namespace {

using analysis::KernelDescription;

std::string header_comment(const KernelDescription& description, const KernelFits& fits,
                           const model::RationalProgram& program) {
    std::string text =
        "/* Driver program of kernel " +
        c_comment_text(description.demangled.empty() ? description.name : description.demangled);
    const auto line = [&](const std::string& words) { text += "\n * " + c_comment_text(words); };
    if (!description.source.empty()) line("    defined at " + description.source);
    line(fmt::format("    mangled {}, id {}", description.name, description.id));
    line(fmt::format("    blocks: {}, races: {}", analysis::name(description.verdict),
                     description.race_free_proved ? "proved absent" : "assumed absent"));
    line(fmt::format("    model: {} {}", program.name, program.version));
    line("");
    line(
        "It predicts the kernel's time on a device (H) from the launch's data parameters (D) and block (P), "
        "and");
    line("searches the blocks. D, in order:");
    for (std::size_t i = 0; i < fits.data_names.size(); ++i) {
        const ProfiledParameter& parameter = fits.profiled[i];
        if (parameter.is_stride && !fits.layouts.empty()) {
            line(fmt::format("    data[{}] {}: a stride, profiled at 1 and from {:g} to {:g}", i,
                             fits.data_names[i], parameter.least, parameter.most));
            continue;
        }
        line(parameter.varied || parameter.least < parameter.most
                 ? fmt::format("    data[{}] {}: profiled from {:g} to {:g}", i, fits.data_names[i],
                               parameter.least, parameter.most)
                 : fmt::format("    data[{}] {}: profiled at {:g} alone", i, fits.data_names[i],
                               parameter.least));
    }
    return text + " */\n";
}

// D[i] names extent.x: where a launch's threads are found.
std::array<std::string, 3> extent_expressions(const KernelDescription& description) {
    std::array<std::string, 3> out{"1.0", "1.0", "1.0"};
    for (std::size_t i = 0; i < description.data.size(); ++i)
        if (const analysis::DataParameter& data = description.data[i]; data.is_extent)
            out[static_cast<std::size_t>(data.dimension)] = fmt::format("data[{}]", i);
    return out;
}

std::string fill_in(std::string_view text,
                    std::initializer_list<std::pair<std::string_view, std::string>> parts) {
    std::string out(text);
    for (const auto& [mark, value] : parts)
        for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at + value.size()))
            out.replace(at, mark.size(), value);
    return out;
}

std::string name_table(const char* table, const std::vector<std::string>& names) {
    std::string text = fmt::format("static const char* const {}[] = {{", table);
    for (const std::string& name : names) text += " " + c_string(name) + ",";
    return c_wrapped(text + (names.empty() ? " 0 };" : " };"), "") + "\n";
}

std::string number_table(const char* table, const std::vector<double>& numbers) {
    std::string text = fmt::format("static const double {}[] = {{", table);
    for (const double number : numbers) text += " " + c_literal(number) + ",";
    return c_wrapped(text + (numbers.empty() ? " 0 };" : " };"), "") + "\n";
}

}  // namespace

const std::string& common_driver_text() {
    static const std::string text = "#include <trimtab/driver.h>\n\n/* ---- The box of threads ---- */\n\n" +
                                    std::string(box_geometry_inc) + "\n" + std::string(other_values_inc) +
                                    "\n/* ---- One launch ---- */\n\n" + std::string(driver_begin_inc) +
                                    "\n/* ---- The search ---- */\n\n" + std::string(block_search_inc) +
                                    "\n/* ---- What a prediction is worth ---- */\n\n" +
                                    std::string(driver_judge_inc) + "\n";
    return text;
}

std::expected<std::string, Error> print_driver(const KernelDescription& description, const KernelFits& fits,
                                               const model::RationalProgram& program) {
    if (description.data.size() != fits.data_names.size())
        return std::unexpected(
            Error{.message = fmt::format("kernel {} has {} data parameters, its fits have {}",
                                         description.name, description.data.size(), fits.data_names.size())});
    std::array<bool, 3> has_extent{};
    for (std::size_t i = 0; i < description.data.size(); ++i) {
        if (description.data[i].name != fits.data_names[i])
            return std::unexpected(Error{
                .message = fmt::format("data parameter {} of kernel {} is {}, in its fits {}", i,
                                       description.name, description.data[i].name, fits.data_names[i])});
        if (description.data[i].is_extent)
            has_extent[static_cast<std::size_t>(description.data[i].dimension)] = true;
    }
    for (std::size_t d = 0; d < 3; ++d)
        if (description.reads(d) && !has_extent[d])
            return std::unexpected(
                Error{.message = fmt::format("kernel {} reads dimension {}, but its extent is "
                                             "no data parameter",
                                             description.name, "xyz"[d])});
    if (fits.metrics.size() > TRIMTAB_MAX_METRICS)
        return std::unexpected(
            Error{.message = fmt::format("{} metrics are more than the {} of the driver ABI",
                                         fits.metrics.size(), TRIMTAB_MAX_METRICS)});

    CMetrics metrics(fits);
    const std::string chart = print_program(
        program, fits, extent_expressions(description),
        description.annotated_grid[0].has_value() || description.annotated_shared.has_value(), metrics);
    std::vector<model::Metric> all;
    std::vector<std::string> metric_names;
    for (const FittedMetric& fit : fits.metrics) {
        all.push_back(fit.metric);
        metric_names.emplace_back(model::name(fit.metric));
    }
    const std::string fill_all = metrics.fill_function(all, true);
    std::string store;
    for (std::size_t i = 0; i < all.size(); ++i)
        store += fmt::format("    out->metrics[{}] = {}(v);\n", i, metrics.metric_function(all[i]));

    std::string text = header_comment(description, fits, program);
    text += common_driver_text();
    text += "/* ---- The low-level metrics ---- */\n\n" + metrics.variables_struct() + "\n";
    text += metrics.ranges_function() + "\n" + metrics.layout_function() + metrics.fill_functions() +
            metrics.metric_functions();
    text += "/* ---- The performance model ---- */\n\n" + chart + "\n";
    text +=
        "/* ---- What the profile can speak for ---- */\n\n" + print_doubts(fits, program, metrics, fill_all);
    const auto annotation = print_annotation(description);
    if (!annotation) return std::unexpected(annotation.error());
    text += "/* ---- The legal blocks, and the launch that goes with one ---- */\n\n" + *annotation + "\n";
    text += "/* ---- The driver ---- */\n\n";
    text += name_table("trimtab_data_names", fits.data_names);
    text += name_table("trimtab_metric_names", metric_names);
    std::vector<double> least, most;
    for (const ProfiledParameter& parameter : fits.profiled) {
        least.push_back(parameter.least);
        most.push_back(parameter.most);
    }
    least.resize(fits.data_names.size());
    most.resize(fits.data_names.size());
    text += number_table("trimtab_profiled_least", least) + number_table("trimtab_profiled_most", most);
    text += fill_in(driver_end_inc, {{"@DATA_COUNT@", fmt::format("{}", fits.data_names.size())},
                                     {"@METRIC_COUNT@", fmt::format("{}", fits.metrics.size())},
                                     {"@FILL@", fill_all},
                                     {"@STORE_METRICS@", store},
                                     {"@ID@", description.id},
                                     {"@KERNEL@", c_string(description.name)}});
    return text;
}

}  // namespace trimtab::driver_gen
