// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab select: the best block for one launch, every legal block ranked.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "choosing/choices/doubt_text.h"
#include "choosing/settings.h"
#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/performance_model.h"
#include "core/model/time_text.h"
#include "tools/trimtab/asked_extent.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/driver_choice.h"
#include "tools/trimtab/fitted_kernel.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/launch_options.h"
#include "tools/trimtab/ranking.h"
#include "tools/trimtab/runtime_choice.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct SelectOptions {
    LaunchOptions launch;
    std::string extent, candidates, grid, block;
    double least_gain = choosing::default_least_gain;
};

Json block_json(trimtab_dim3 block) {
    return {{"bx", block.x}, {"by", block.y}, {"bz", block.z}};
}

Json data_json(const analysis::KernelDescription& kernel, std::span<const double> data) {
    Json json = Json::object();
    for (std::size_t i = 0; i < kernel.data.size(); ++i) json[kernel.data[i].name] = data[i];
    return json;
}

int refuse(const SelectOptions& options, const LaunchQuestion& question, std::span<const double> data,
           const std::string& reason) {
    if (options.launch.json)
        fmt::print("{}\n", Json{{"kernel", question.description().demangled},
                                {"device", question.device.slug},
                                {"data", data_json(question.description(), data)},
                                {"chosen", nullptr},
                                {"reason", reason},
                                {"ranking", Json::array()}}
                               .dump(2));
    return fail(ExitCode::no, fmt::format("{}: {}", question.description().demangled, reason));
}

std::string with_advice(const std::string& why, std::uint32_t doubt) {
    const std::string advice = choosing::doubt_advice(doubt);
    return why + (why.empty() || advice.empty() ? "" : "; ") + advice;
}

std::string why_uncertain(const RankedLaunch& launch, std::uint32_t doubt) {
    const InterpretedDriver interpreted(launch);
    return with_advice(choosing::doubt_text(interpreted.driver(), launch.data, doubt), doubt);
}

void print_text(const RankedLaunch& launch, const std::vector<RankedBlock>& ranking,
                const analysis::KernelDescription& kernel, std::uint32_t doubt) {
    const trimtab_dim3 best = ranking.front().block;
    fmt::print("{} on {}: block ({}, {}, {}), {}, in closed form{}\n", kernel.demangled, launch.device->slug,
               best.x, best.y, best.z, model::time_with_bounds(ranking.front().ns, model::closed_form_error),
               doubt != 0 ? "; uncertain" : "");
    if (doubt != 0) fmt::print("  {}\n", why_uncertain(launch, doubt));
    constexpr std::size_t shown = 10;
    for (std::size_t i = 0; i < ranking.size() && i < shown; ++i)
        fmt::print("  {:>2}. {:>4} x {:>4} x {:>2}  {:>12}\n", i + 1, ranking[i].block.x, ranking[i].block.y,
                   ranking[i].block.z, model::time_text(ranking[i].ns, model::closed_form_error));
    if (ranking.size() > shown)
        fmt::print("  of {} legal blocks; the last, ({}, {}, {}), takes {}\n", ranking.size(),
                   ranking.back().block.x, ranking.back().block.y, ranking.back().block.z,
                   model::time_text(ranking.back().ns, model::closed_form_error));
}

void print_json(const RankedLaunch& launch, const std::vector<RankedBlock>& ranking,
                const analysis::KernelDescription& kernel, std::uint32_t doubt) {
    Json list = Json::array();
    for (const RankedBlock& ranked : ranking) {
        Json entry = block_json(ranked.block);
        entry["ns"] = ranked.ns;
        Json metrics = Json::object();
        for (const auto& [metric, value] : metrics_of(launch, ranked.block))
            metrics[std::string(model::name(metric))] = value;
        entry["metrics"] = std::move(metrics);
        list.push_back(std::move(entry));
    }
    fmt::print("{}\n", Json{{"kernel", kernel.demangled},
                            {"device", launch.device->slug},
                            {"data", data_json(kernel, launch.data)},
                            {"model", launch.program->name},
                            {"uncertain", doubt != 0},
                            {"why_uncertain", doubt != 0 ? Json(why_uncertain(launch, doubt)) : Json()},
                            {"chosen", block_json(ranking.front().block)},
                            {"ranking", std::move(list)}}
                           .dump(2));
}

// The block that a program's launch gets is what its driver program's search finds, which tries some 60 of up
// to thousands.
void put_first(std::vector<RankedBlock>& ranking, const std::optional<RankedBlock>& choice) {
    if (!choice) return;
    const auto chosen = std::ranges::find_if(ranking, [&](const RankedBlock& one) {
        return one.block.x == choice->block.x && one.block.y == choice->block.y &&
               one.block.z == choice->block.z;
    });
    if (chosen != ranking.end()) std::rotate(ranking.begin(), chosen, chosen + 1);
}

Json block_json(const trimtab_dim3& grid, const trimtab_dim3& block) {
    return {{"grid", {grid.x, grid.y, grid.z}}, {"block", {block.x, block.y, block.z}}};
}

Json time_or_null(double ns) {
    return std::isfinite(ns) ? Json(ns) : Json(nullptr);
}

// The launch of a program: what the runtime makes of it.
int answer_for_launch(const SelectOptions& options, const LaunchQuestion& question,
                      const RankedLaunch& launch, trimtab_dim3 grid, trimtab_dim3 block) {
    const choosing::Decision decision = runtime_choice(question, launch, grid, block, options.least_gain);
    const analysis::KernelDescription& kernel = question.description();
    const std::string reason = with_advice(decision.reason, decision.doubt);
    if (options.launch.json) {
        const std::vector<double> data =
            analysis::data_values(kernel, question.arguments.bytes, kernel.counted_extent(grid, block));
        const Json written = block_json(grid, block);
        Json chosen = block_json(decision.launch.grid, decision.launch.block);
        // As the runtime's report names the body that takes other blocks than the kernel's own.
        if (analysis::built_in_block(kernel) && chosen != written) chosen["kernel"] = kernel.name;
        fmt::print("{}\n", Json{{"kernel", kernel.demangled},
                                {"device", question.device.slug},
                                {"data", data_json(kernel, data)},
                                {"written", written},
                                {"chosen", std::move(chosen)},
                                {"predicted_ns",
                                 {{"written", time_or_null(decision.written_ns)},
                                  {"chosen", time_or_null(decision.chosen_ns)}}},
                                {"by", choosing::name(decision.by)},
                                {"reason", reason}}
                               .dump(2));
        return code(ExitCode::ok);
    }
    const auto text = [](const trimtab_dim3& size) {
        return fmt::format("{} x {} x {}", size.x, size.y, size.z);
    };
    const auto time = [](double ns) { return model::time_text(ns, model::closed_form_error); };
    fmt::print("{} on {}\n  written {} blocks of {}, {}\n  chosen  {} blocks of {}, {}: {}\n",
               kernel.demangled, question.device.slug, text(grid), text(block), time(decision.written_ns),
               text(decision.launch.grid), text(decision.launch.block), time(decision.chosen_ns), reason);
    return code(ExitCode::ok);
}

int run(const SelectOptions& options) {
    const bool is_launch = !options.grid.empty() || !options.block.empty();
    if (is_launch && (options.grid.empty() || options.block.empty()))
        return fail(
            Error{.message = "--grid and --block together describe the launch as written: give both"});
    if (is_launch && (!options.extent.empty() || !options.candidates.empty()))
        return fail(Error{.message = "--grid and --block exclude --extent and --candidates"});
    const auto candidates = parse_candidates(options.candidates);
    if (!candidates) return fail(candidates.error());
    LaunchOptions asked = options.launch;
    asked.is_launch = is_launch;
    auto question = look_up(asked);
    if (!question) return fail(question.error());
    const analysis::KernelDescription& kernel = question->description();
    if (const auto complete = require_data(kernel, question->arguments); !complete)
        return fail(complete.error());
    if (is_launch) {
        const auto grid = parse_dim3(options.grid, "--grid");
        if (!grid) return fail(grid.error());
        const auto block = parse_dim3(options.block, "--block");
        if (!block) return fail(block.error());
        const auto fits = fits_of(question->of(), options.launch.file);
        if (!fits) return fail(fits.error());
        return answer_for_launch(
            options, *question,
            {.program = question->of().record.model.program.get(),
             .device = &question->device,
             .image = question->image,
             .fits = *fits,
             .data = {},
             .dynamic_shared_bytes = shared_bytes_of(options.launch, *question, *grid, *block)},
            *grid, *block);
    }
    const auto given = analysis::data_values(kernel, question->arguments.bytes, {1, 1, 1});
    const auto extent = asked_extent(options.extent, *question, given);
    if (!extent) return fail(extent.error());
    const std::vector<double> data =
        analysis::data_values(kernel, question->arguments.bytes, {extent->x, extent->y, extent->z});

    const WrittenLaunch written = written_launch(kernel, *extent, question->device.values);
    auto limits = analysis::legal_blocks(kernel, question->arguments.bytes, written.grid, written.block,
                                         question->device.values, question->image);
    if (!limits) return refuse(options, *question, data, limits.error());
    limits->max_dynamic_shared_bytes = std::max(
        limits->max_dynamic_shared_bytes, static_cast<std::uint32_t>(options.launch.dynamic_shared_bytes));
    const auto fits = fits_of(question->of(), options.launch.file);
    if (!fits) return fail(fits.error());

    const RankedLaunch launch{.program = question->of().record.model.program.get(),
                              .device = &question->device,
                              .image = question->image,
                              .fits = *fits,
                              .data = data,
                              .limits = *limits,
                              .dynamic_shared_bytes = options.launch.dynamic_shared_bytes,
                              .annotated = analysis::has_shape_annotations(kernel) ? &kernel : nullptr,
                              .arguments = question->arguments.bytes,
                              .extent = *extent};
    auto ranking = rank(launch, legal_candidates(*limits, *candidates));
    if (ranking.empty())
        return refuse(options, *question, data,
                      launch.annotated == nullptr ? "no block is legal on this device"
                                                  : "its annotation allows no block on this device");
    if (candidates->empty())
        put_first(ranking, driver_choice(launch));
    else
        decide_ties(ranking);
    std::uint32_t doubt = judge(launch, ranking.front().block, ranking.front().ns).uncertain;
    if (doubt == 0) doubt = (*fits)->other_number(data);
    if (options.launch.json)
        print_json(launch, ranking, kernel, doubt);
    else
        print_text(launch, ranking, kernel, doubt);
    return code(ExitCode::ok);
}

}  // namespace

void add_select(CLI::App& app, Action& action) {
    auto options = std::make_shared<SelectOptions>();
    CLI::App* command = app.add_subcommand("select", "Choose one launch's block, and rank all legal blocks")
                            ->group(groups::choose);
    command->footer("Example: trimtab select ./program --kernel K --device h100 --arg n=262144");
    add_launch_options(*command, options->launch);
    command->add_option("--extent", options->extent,
                        "Launch so many threads: X[,Y[,Z]] (default: the guards' bounds)");
    command->add_option("--candidates", options->candidates, "Rank only these blocks: \"bx,by;...\"");
    command->add_option("--grid", options->grid,
                        "Choose as the runtime does for this launch: X[,Y[,Z]] blocks");
    command->add_option("--block", options->block,
                        "With --grid: threads per block of that launch, X[,Y[,Z]]");
    command
        ->add_option("--least-gain", options->least_gain,
                     "Keep the block unless another saves this share of the time")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
