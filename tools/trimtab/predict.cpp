// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab predict: the time of one launch on a device, whatever its block.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/model/occupancy.h"
#include "core/model/performance_model.h"
#include "core/model/time_text.h"
#include "tools/trimtab/captured_launch.h"
#include "tools/trimtab/code_report.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/driver_choice.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/launch_options.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct PredictOptions {
    LaunchOptions launch;
    std::string grid, block;
    bool measure = false, sass = false;
};

struct Prediction {
    double ns = 0;
    bool launchable = false;
    std::string by;  // "driver", or "emulation" of sampled blocks
    std::uint64_t blocks_run = 0;
    std::vector<std::pair<model::Metric, double>> metrics;
    // GPUPerf's terms, in ns; none where a metric of theirs was not fitted.
    std::vector<std::pair<std::string, double>> benefits;
    std::optional<sass::CountedCode> code;
    std::string no_code;  // why there is none that was asked for
};

// GPUPerf's terms are a rational program of the same metrics: asked at this D, P and H, without a run.
std::vector<std::pair<std::string, double>> benefits_of(
    const LaunchQuestion& question, const model::Launch& launch,
    const model::RationalProgram::MetricFunction& metric) {
    std::vector<std::pair<std::string, double>> out;
    const auto program = model::performance_model("gpuperf-benefits");
    if (!program) return out;
    const auto inputs = model::input_values(**program, question.device, question.image, launch);
    const std::vector<double> trace = (*program)->trace(inputs, metric);
    for (std::size_t i = 0; i < trace.size(); ++i) {
        const std::string& label = (*program)->nodes[i].label;
        for (const char* term : {"T_comp", "T_mem", "T_overlap", "T_exec", "T_fp", "T_mem_min", "B_itilp",
                                 "B_memlp", "B_fp", "B_serial"})
            if (label == term) out.emplace_back(label, trace[i] / question.device.values.sm_clock_hz * 1e9);
    }
    return out;
}

// Does the kernel's profile know every metric that GPUPerf asks for?
bool knows_benefits(const driver_gen::KernelFits& fits, const model::RationalProgram& known) {
    const auto program = model::performance_model("gpuperf-benefits");
    const auto profiled = known.metrics_used();
    return program && std::ranges::all_of((*program)->metrics_used(), [&](model::Metric metric) {
               return fits.find(metric) != nullptr || std::ranges::find(profiled, metric) != profiled.end();
           });
}

std::expected<Prediction, Error> predict(const PredictOptions& options, const LaunchQuestion& question,
                                         trimtab_dim3 grid, trimtab_dim3 block, double dynamic_shared_bytes,
                                         const model::RationalProgram& program) {
    const analysis::KernelDescription& kernel = question.description();
    const auto& fits = question.file.kernels[question.kernel].record.fits;
    const model::Launch launch{.extent = {grid.x * block.x, grid.y * block.y, grid.z * block.z},
                               .block = block,
                               .dynamic_shared_bytes = dynamic_shared_bytes};
    // The driver program knows the launches that an annotation describes.
    const bool described = analysis::annotation_mismatch(
                               kernel, question.arguments.bytes,
                               {.grid = grid,
                                .block = block,
                                .dynamic_shared_bytes = static_cast<std::uint64_t>(dynamic_shared_bytes)})
                               .empty();
    const auto inputs = model::input_values(program, question.device.values, question.image, launch);
    if (fits && described && !options.measure && !options.sass) {
        if (const auto complete = require_data(kernel, question.arguments); !complete)
            return std::unexpected(complete.error());
        const auto data = analysis::data_values(kernel, question.arguments.bytes,
                                                {launch.extent.x, launch.extent.y, launch.extent.z});
        const auto result = program.evaluate(inputs, driver_gen::metric_function(*fits, data));
        RankedLaunch asked{.program = &program,
                           .device = &question.device,
                           .image = question.image,
                           .fits = &*fits,
                           .data = data,
                           .dynamic_shared_bytes = dynamic_shared_bytes};
        asked.limits.extent = launch.extent;
        // Where the block cannot be launched there is nothing to judge.
        const bool is_known = !result.launchable || judge(asked, block, result.time_ns).relative_error < 1;
        if (is_known && !fits->uncertain(data) && !fits->has_other_numbers(data)) {
            Prediction prediction{.ns = result.time_ns,
                                  .launchable = result.launchable,
                                  .by = "driver",
                                  .blocks_run = 0,
                                  .metrics = {},
                                  .benefits = {},
                                  .code = {},
                                  .no_code = {}};
            if (knows_benefits(*fits, program))
                prediction.benefits = benefits_of(question, launch, driver_gen::metric_function(*fits, data));
            for (const model::Metric metric : program.metrics_used())
                prediction.metrics.emplace_back(metric,
                                                fits->evaluate(metric, data, block.x, block.y, block.z));
            return prediction;
        }
    }
    if (const auto complete = require_scalars(kernel, question.arguments); !complete)
        return std::unexpected(complete.error());
    auto measured = measure_launch(question, grid, block, static_cast<std::uint32_t>(dynamic_shared_bytes),
                                   default_instruction_budget, options.sass);
    if (!measured) return std::unexpected(measured.error());
    const auto result = program.evaluate(inputs, measured->metric);
    Prediction prediction{.ns = result.time_ns,
                          .launchable = result.launchable,
                          .by = "emulation",
                          .blocks_run = measured->blocks_run,
                          .metrics = {},
                          .benefits = benefits_of(question, launch, measured->metric),
                          .code = std::move(measured->code),
                          .no_code = std::move(measured->no_code)};
    for (const model::Metric metric : program.metrics_used())
        prediction.metrics.emplace_back(metric, measured->values[static_cast<std::size_t>(metric)]);
    return prediction;
}

Json to_json(trimtab_dim3 shape) {
    return {shape.x, shape.y, shape.z};
}

// Factors that 95 of 100 are within.
Json error_json(const model::PredictionError& error) {
    return {{"time", std::exp(error.time)}, {"ratio", std::exp(error.ratio)}};
}

void print_prediction(const PredictOptions& options, const LaunchQuestion& question, trimtab_dim3 grid,
                      trimtab_dim3 block, const model::Occupancy& occupancy, const Prediction& prediction) {
    if (options.launch.json) {
        Json metrics = Json::object();
        for (const auto& [metric, value] : prediction.metrics)
            metrics[std::string(model::name(metric))] = value;
        Json benefits = Json::object();
        for (const auto& [term, ns] : prediction.benefits) benefits[term] = ns;
        Json code;
        if (prediction.code)
            code = code_json(*prediction.code, *question.file.kernels[question.kernel].module);
        fmt::print("{}\n", Json{{"kernel", question.description().demangled},
                                {"device", question.device.slug},
                                {"grid", to_json(grid)},
                                {"block", to_json(block)},
                                {"model", question.file.kernels[question.kernel].record.model.program->name},
                                {"ns", prediction.ns},
                                {"by", prediction.by},
                                {"predictor", "closed form"},
                                {"errors",
                                 {{"closed form", error_json(model::closed_form_error)},
                                  {"abstract emulation", error_json(model::emulation_error)}}},
                                {"blocks_emulated", prediction.blocks_run},
                                {"registers", question.image.registers_per_thread},
                                {"registers_from", question.registers_from},
                                {"occupancy",
                                 {{"blocks_per_sm", occupancy.blocks_per_sm},
                                  {"fraction", occupancy.fraction},
                                  {"limited_by", model::name(occupancy.limiter)}}},
                                {"metrics", std::move(metrics)},
                                {"gpuperf_ns", std::move(benefits)},
                                {"no_sass", prediction.no_code},
                                {"sass", std::move(code)}}
                               .dump(2));
        return;
    }
    fmt::print("{} on {}, {} x {} x {} blocks of {} x {} x {}: {}\n", question.description().demangled,
               question.device.slug, grid.x, grid.y, grid.z, block.x, block.y, block.z,
               model::time_with_bounds(prediction.ns, model::closed_form_error));
    fmt::print("  {} registers ({}), by {}; occupancy {:.0f} %, {} blocks on an SM, limited by {}\n",
               question.image.registers_per_thread, question.registers_from,
               prediction.by == "driver" ? "the kernel's driver program"
                                         : fmt::format("emulating {} blocks", prediction.blocks_run),
               occupancy.fraction * 100, occupancy.blocks_per_sm, model::name(occupancy.limiter));
    const auto factors = [](const model::PredictionError& error) {
        return fmt::format("{:.1f} (ratios of two blocks: {:.2f})", std::exp(error.time),
                           std::exp(error.ratio));
    };
    fmt::print(
        "  predicted in closed form: right within a factor of {} for 95 of 100 measured launches;\n  "
        "abstract emulation (trimtab emulate) within {}\n",
        factors(model::closed_form_error), factors(model::emulation_error));
    if (!prediction.no_code.empty()) fmt::print("  no machine code: {}\n", prediction.no_code);
    if (options.sass && prediction.code)
        fmt::print("{}", code_text(*prediction.code, *question.file.kernels[question.kernel].module));
}

int run(const PredictOptions& options) {
    if (const auto error = launch_is_asked(options.launch, options.grid, options.block))
        return fail(ExitCode::usage, error->message);
    const auto question = look_up(options.launch);
    if (!question) return fail(question.error());
    const auto grid = grid_of(*question, options.grid);
    if (!grid) return fail(grid.error());
    const auto block = block_of(*question, options.block);
    if (!block) return fail(block.error());
    const model::RationalProgram& program = *question->file.kernels[question->kernel].record.model.program;

    const auto refuse = [&](std::string_view why) {
        return fail(ExitCode::no, fmt::format("{} cannot be launched on {}: {}",
                                              question->description().demangled, question->device.slug, why));
    };
    const std::uint64_t threads = std::uint64_t{block->x} * block->y * block->z;
    for (const auto& [blocks, size] :
         {std::pair(grid->x, block->x), std::pair(grid->y, block->y), std::pair(grid->z, block->z)})
        if (std::uint64_t{blocks} * size > 0xffffffffu)
            return refuse("more than 2^32 - 1 threads in a dimension");
    if (threads > question->device.values.max_threads_per_block)
        return refuse(fmt::format("{} threads in a block", threads));
    const double dynamic_shared_bytes = shared_bytes_of(options.launch, *question, *grid, *block);
    const model::Occupancy occupancy = model::occupancy(
        question->device.values, question->image, static_cast<std::uint32_t>(threads), dynamic_shared_bytes);
    if (occupancy.blocks_per_sm == 0)
        return refuse("the block does not fit an SM (threads, registers or shared memory)");
    const auto prediction = predict(options, *question, *grid, *block, dynamic_shared_bytes, program);
    if (!prediction) return fail(prediction.error());
    if (!prediction->launchable) return refuse("the block or the grid is beyond the device's limits");
    print_prediction(options, *question, *grid, *block, occupancy, *prediction);
    return code(ExitCode::ok);
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
    auto options = std::make_shared<PredictOptions>();
    CLI::App* command =
        app.add_subcommand("predict", "Predict the time of one launch")->group(groups::understand);
    command->footer(
        "Uses the kernel's driver program if it has one, else emulates sampled blocks.\n"
        "Example: trimtab predict ./program --kernel K --grid 1024 --block 256 --arg n=4096");
    add_launch_options(*command, options->launch);
    add_shape_options(*command, options->launch, options->grid, options->block);
    command->add_flag("--measure", options->measure, "Emulate even if there is a driver program");
    command->add_flag("--sass", options->sass,
                      "Emulate, and show what ptxas makes: loops, mix, waits for memory");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
