// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/inspect_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"
#include "core/model/performance_model.h"

namespace trimtab::tools {

namespace {

using analysis::KernelDescription;

std::string verdict_text(const KernelDescription& kernel, bool has_stand_in) {
    if (has_stand_in && kernel.verdict != analysis::Verdict::fixed)
        return fmt::format("{}: launched unchanged, except with one thread per block (its other body, below)",
                           analysis::name(kernel.verdict));
    switch (kernel.verdict) {
        case analysis::Verdict::covering:
            if (kernel.keeps_grid())
                return "covering: any block, with the grid as written, if the launch's arguments allow it";
            return "covering: any block whose grid covers the launch's threads, if the guards allow it for "
                   "the launch's arguments";
        case analysis::Verdict::dividing:
            return "dividing: only blocks that divide the launch's threads exactly";
        case analysis::Verdict::annotated:
            return "annotated: blocks as the annotation says";
        case analysis::Verdict::fixed:
            return has_stand_in
                       ? "fixed: launched unchanged, except with the hard-coded block (its other body, below)"
                       : "fixed: every launch is unchanged";
    }
    return "";
}

std::vector<std::string> parameter_names(const KernelDescription& kernel) {
    std::vector<std::string> names;
    for (const auto& parameter : kernel.parameters) names.push_back(parameter.name);
    return names;
}

char letter(analysis::Dimension dimension) {
    return "xyz"[static_cast<std::size_t>(dimension)];
}

std::string data_text(const analysis::DataParameter& data) {
    if (data.is_extent) return data.name;
    std::string text = data.name + " (" + data.type;
    if (data.bounds) text += fmt::format(", bounds {}", letter(*data.bounds));
    if (!data.in_memo) text += ", only offsets addresses";
    if (data.coarse_in_memo) text += ", remembered by power of two";
    return text + ")";
}

void add_proof(std::string& out, const KernelDescription& kernel, bool has_stand_in) {
    if (const auto block = analysis::built_in_block(kernel)) {
        std::string sizes;
        for (std::size_t d = 0; d < 3; d++)
            if ((*block)[d] != 0)
                sizes += fmt::format("{}{} thread{} in {}", sizes.empty() ? "" : " and ", (*block)[d],
                                     (*block)[d] == 1 ? "" : "s", "xyz"[d]);
        out += fmt::format(
            "  hard-coded {}: launches of the kernel with such blocks are launches of this body\n", sizes);
    } else if (const auto made = analysis::coarsening(kernel)) {
        out += fmt::format(
            "  work       {} elements a thread in {}: launches of the kernel may become launches of this "
            "body\n",
            made->elements, "xyz"[made->dimension]);
    } else if (kernel.variant)
        out += fmt::format(
            "  variant    {} of {}{}\n", kernel.variant->value, kernel.variant->of,
            kernel.verdict == analysis::Verdict::annotated && kernel.annotated_grid[0]
                ? ""
                : ": no annotation states the grid that goes with a block, no launch becomes another's");
    out += fmt::format("  verdict    {}\n", verdict_text(kernel, has_stand_in));
    for (const analysis::Reason& reason : kernel.reasons)
        out += fmt::format("             rule {}, {}: {}\n", reason.rule, reason.source, reason.text);
    if (kernel.verdict != analysis::Verdict::fixed)
        out += fmt::format("  races      {}{}\n",
                           kernel.race_free_proved ? "proved free of them" : "assumed free of them",
                           kernel.uses_float_atomics ? "; floating-point atomics add in any order" : "");
    if (kernel.may_reassociate)
        out += "  sums       of floating-point numbers may be regrouped: results differ by rounding\n";
    const auto names = parameter_names(kernel);
    const bool of_warps = std::ranges::any_of(kernel.dimensions, [](const analysis::DimensionUse& use) {
        return use.block == analysis::BlockWidth::warps || use.block == analysis::BlockWidth::powers;
    });
    if (kernel.annotated_block)
        out += fmt::format("  {} blocks with {}\n", of_warps ? "warps     " : "annotation",
                           analysis::to_text(*kernel.annotated_block, names));
    std::vector<std::string> grid;
    for (const auto& blocks : kernel.annotated_grid)
        if (blocks && !kernel.keeps_grid()) grid.push_back(analysis::to_text(*blocks, names));
    if (!grid.empty()) out += fmt::format("  annotation a grid of {}\n", fmt::join(grid, " x "));
    if (kernel.annotated_shared)
        out += fmt::format("  {} {} bytes of dynamic shared memory\n",
                           kernel.verdict == analysis::Verdict::annotated ? "annotation" : "needs     ",
                           analysis::to_text(*kernel.annotated_shared, names));
    for (const analysis::Guard& guard : kernel.guards)
        out += fmt::format("  guard      {}: exits where {}{}\n", letter(guard.dimension),
                           analysis::to_text(guard.exits, names),
                           guard.source.empty() ? "" : "  (" + guard.source + ")");
}

// Loops over the threads of the grid, or of a block.
void add_loops(std::string& out, const KernelDescription& kernel) {
    const auto names = parameter_names(kernel);
    for (const analysis::GridStrideLoop& loop : kernel.strides) {
        const auto d = static_cast<std::size_t>(loop.dimension);
        std::vector<std::string> exits;
        for (const analysis::Expression& test : loop.exits) {
            std::string text = analysis::to_text(test, names);
            if (std::ranges::find(exits, text) == exits.end()) exits.push_back(std::move(text));
        }
        out += fmt::format("  loop       {}: {}, until {}{}\n", letter(loop.dimension),
                           loop.is_of_rows        ? "rows of a block, one after another"
                           : kernel.grid_stays(d) ? "block-stride"
                                                  : "grid-stride",
                           fmt::join(exits, " or "), loop.source.empty() ? "" : "  (" + loop.source + ")");
    }
    if (kernel.needs_one_iteration_a_thread)
        out += fmt::format(
            "             its iterations touch memory at addresses that are not known beforehand: where the "
            "launch as written has a thread{} for each\n",
            kernel.keeps_grid() ? " of a block" : "");
    for (std::size_t d = 0; d < 3; ++d)
        if (kernel.grid_stays(d))
            out += fmt::format(
                "             the grid stays as written in {0}, g.{0} is threadIdx.{0}, and extent.{0} "
                "counts blocks\n",
                "xyz"[d]);
}

void add_interface(std::string& out, const KernelDescription& kernel) {
    std::vector<std::string> parameters, data, dimensions;
    for (const auto& parameter : kernel.parameters)
        parameters.push_back(parameter.name + ": " + parameter.type);
    for (const auto& member : kernel.data) data.push_back(data_text(member));
    for (std::size_t d = 0; d < 3; ++d)
        if (kernel.reads(d)) dimensions.emplace_back(1, "xyz"[d]);
    out += fmt::format("  parameters {}\n", fmt::join(parameters, ", "));
    out += fmt::format("  dimensions {}\n",
                       dimensions.empty() ? "none" : fmt::format("{}", fmt::join(dimensions, ", ")));
    out += fmt::format("  data       {}\n", data.empty() ? "none" : fmt::format("{}", fmt::join(data, ", ")));
    for (const analysis::KernelImage& image : kernel.images)
        out += fmt::format(
            "  image      {}: {} registers ({}), {} bytes shared, {} bytes local{}\n", image.architecture,
            image.registers, image.registers_from, image.shared_bytes, image.local_bytes,
            image.max_threads == 0 ? "" : fmt::format(", at most {} threads", image.max_threads));
    if (kernel.least_threads != 0)
        out += fmt::format("             blocks of at least {} threads, in multiples of that\n",
                           kernel.least_threads);
}

bool is_zero(const driver_gen::FittedMetric& metric) {
    return std::ranges::all_of(metric.pieces, [](const auto& piece) { return piece.numerator.empty(); });
}

void add_fits(std::string& out, const driver_gen::KernelFits& fits) {
    out += "  metrics    per active warp, block or launch; errors in and out of sample\n";
    std::vector<std::string_view> zero;
    for (const driver_gen::FittedMetric& metric : fits.metrics) {
        if (is_zero(metric)) {
            zero.push_back(model::name(metric.metric));
            continue;
        }
        const std::string text = driver_gen::to_text(fits, metric.metric);
        for (std::size_t start = 0; start < text.size();) {
            const std::size_t end = std::min(text.find('\n', start), text.size());
            out += "    " + text.substr(start, end - start) + "\n";
            start = end + 1;
        }
    }
    if (!zero.empty()) out += fmt::format("    0: {}\n", fmt::join(zero, ", "));
}

// Metrics are quotients of polynomials in pieces: what is left is the model.
std::string model_line(const model::RationalProgram& program) {
    const std::size_t roots = program.irrational_operations();
    return fmt::format(
        "  model      {} {}, {}\n", program.name, program.version,
        roots == 0
            ? "a rational program"
            : fmt::format("not a rational program as KLARAPTOR defines them: {} square roots or powers",
                          roots));
}

}  // namespace

std::string to_text(const FileKernel& kernel, bool has_stand_in) {
    const KernelDescription& description = kernel.record.description;
    std::string out =
        fmt::format("{}\n  name       {}, id {}\n", description.demangled, description.name, description.id);
    const std::string source = description.source.empty() ? kernel.input : description.source;
    if (!source.empty()) out += fmt::format("  source     {}\n", source);
    add_proof(out, description, has_stand_in);
    add_loops(out, description);
    add_interface(out, description);
    if (kernel.record.profile)
        out += fmt::format("  profile    {} points by {} {}\n", kernel.record.profile->points.size(),
                           kernel.record.profile->backend_name, kernel.record.profile->backend_version);
    if (kernel.record.fits) {
        out += model_line(*kernel.record.model.program);
        add_fits(out, *kernel.record.fits);
    } else {
        out += kernel.record.no_driver.empty()
                   ? "  driver     none\n"
                   : fmt::format("  driver     none: {}\n", kernel.record.no_driver);
    }
    return out;
}

std::string profile_text(const profiler::Profile& profile) {
    std::string out =
        fmt::format("{} {}, {} points", profile.backend_name, profile.backend_version, profile.points.size());
    if (profile.left_out != 0)
        out += fmt::format("; {} more were planned and left out, which would have taken too long",
                           profile.left_out);
    if (!profile.data_dependent.empty()) {
        std::vector<std::string_view> names;
        for (const model::Metric metric : profile.data_dependent) names.push_back(model::name(metric));
        out += fmt::format("; with other array contents these change: {}", fmt::join(names, ", "));
    }
    out += "\n";
    const auto named = [&profile](const std::vector<double>& values) {
        std::vector<std::string> data;
        for (std::size_t i = 0; i < values.size() && i < profile.data_names.size(); ++i)
            data.push_back(fmt::format("{} = {}", profile.data_names[i], values[i]));
        return fmt::format("{}", fmt::join(data, ", "));
    };
    for (const profiler::PlanLevel& level : profile.levels)
        out += fmt::format("  level {} | {} | {}\n", &level - profile.levels.data(), named(level.data),
                           level.why);
    for (const profiler::ProfilePoint& point : profile.points) {
        out += fmt::format("  {} | box {} x {} x {}{}\n", named(point.data), point.box[0], point.box[1],
                           point.box[2], point.held_out ? " | held out" : "");
        for (const model::MetricInfo& info : model::metric_table())
            if (const auto& value = point.metrics[static_cast<std::size_t>(info.metric)])
                out += fmt::format("    {:<30} {:>14.6g}\n", info.name, *value);
    }
    return out;
}

}  // namespace trimtab::tools
