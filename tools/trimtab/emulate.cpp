// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab emulate: the time of one launch by abstract emulation, what limits it and where.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/model/occupancy.h"
#include "core/model/time_text.h"
#include "emulation/schedule/estimate.h"
#include "tools/trimtab/captured_launch.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/emulated_schedule.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/machine_options.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct EmulateOptions {
    LaunchOptions launch;
    std::string grid, block, trace, policy = "gto";
    std::size_t trace_instructions = 20'000;
    bool loads_bypass_l1 = false, no_sensitivity = false, from_ptx = false;
    schedule::Settings settings;
};

struct Answer {
    const LaunchQuestion& question;
    const schedule::Settings& settings;
    trimtab_dim3 grid, block;
    model::Occupancy occupancy;
    schedule::TracedLaunch launch;
    schedule::Estimate estimate;
    schedule::Bottleneck bottleneck;
};

std::string_view mode(const schedule::Sensitivity& one) {
    return one.is_gap ? "throughput" : "latency";
}

std::string traced_code(const Answer& answer) {
    return answer.launch.machine_code.empty() ? "PTX" : "SASS for " + answer.launch.machine_code;
}

std::string region_name(const Answer& answer, const schedule::Sensitivity& one) {
    return answer.launch.trace.code.regions[one.region].name;
}

Json to_json(const Answer& answer) {
    const auto sensitivities = [&](const std::vector<schedule::Sensitivity>& list) {
        Json out = Json::array();
        for (const schedule::Sensitivity& one : list) {
            out.push_back({{"resource", std::string(schedule::name(one.resource))},
                           {"mode", std::string(mode(one))},
                           {"sensitivity", one.value}});
            if (one.region != schedule::none) out.back()["region"] = region_name(answer, one);
        }
        return out;
    };
    Json resources = Json::object();
    for (std::size_t r = 0; r < schedule::resource_count; ++r) {
        if (answer.estimate.utilisation[r] <= 0) continue;
        const auto resource = static_cast<schedule::Resource>(r);
        const schedule::Pipe& pipe = answer.launch.machine.of(resource);
        resources[std::string(schedule::name(resource))] = {
            {"utilisation", answer.estimate.utilisation[r]},
            {"latency_cycles", {{"value", pipe.latency_cycles}, {"source", pipe.latency_source}}},
            {"gap_cycles", {{"value", pipe.gap_cycles}, {"source", pipe.gap_source}}},
            {"units", pipe.per_scheduler ? answer.launch.machine.schedulers : 1}};
    }
    const Answer& a = answer;
    const auto& crossed = a.estimate.crossed;
    Json set = tools::to_json(a.settings);
    return {
        {"kernel", a.question.description().demangled},
        {"device", a.question.device.slug},
        {"grid", {a.grid.x, a.grid.y, a.grid.z}},
        {"block", {a.block.x, a.block.y, a.block.z}},
        {"ns", a.estimate.time_ns},
        {"cycles", a.estimate.cycles},
        {"crossed_bound",
         crossed ? Json{{"emulated_cycles", crossed->emulated_cycles}, {"by", crossed->by}} : Json(nullptr)},
        {"by", "abstract emulation of " + traced_code(a)},
        {"no_machine_code", a.launch.no_machine_code},
        {"set", std::move(set)},
        {"policy", std::string(schedule::name(a.launch.machine.policy))},
        {"registers", a.question.image.registers_per_thread},
        {"registers_from", a.question.registers_from},
        {"occupancy",
         {{"blocks_per_sm", a.occupancy.blocks_per_sm},
          {"fraction", a.occupancy.fraction},
          {"limited_by", model::name(a.occupancy.limiter)}}},
        {"issue_utilisation", a.estimate.utilisation[schedule::index(schedule::Resource::issue)]},
        {"resources", std::move(resources)},
        {"sensitivity", sensitivities(a.bottleneck.all)},
        {"by_region", sensitivities(a.bottleneck.regions)},
        {"work",
         {{"blocks_run", a.launch.blocks_run},
          {"blocks_traced", a.launch.trace.blocks.size()},
          {"warp_instructions_run", a.launch.warp_instructions},
          {"warp_instructions_scheduled", a.estimate.emulated_warp_instructions},
          {"complete", !a.launch.is_cut}}}};
}

void print_text(const Answer& answer) {
    const Answer& a = answer;
    fmt::print("{} on {}, {} x {} x {} blocks of {} x {} x {}: {}\n", a.question.description().demangled,
               a.question.device.slug, a.grid.x, a.grid.y, a.grid.z, a.block.x, a.block.y, a.block.z,
               model::time_with_bounds(a.estimate.time_ns, model::emulation_error));
    fmt::print("  by abstract emulation of {}: {} blocks traced, {} warp instructions scheduled{}\n",
               traced_code(a), a.launch.trace.blocks.size(), a.estimate.emulated_warp_instructions,
               a.launch.is_cut ? "; the launch is too large to keep whole, so this time is too short" : "");
    if (!a.launch.no_machine_code.empty())
        fmt::print("  not of machine code: {}\n", a.launch.no_machine_code);
    if (!a.settings.is_empty()) fmt::print("  what if: {}\n", to_text(a.settings));
    fmt::print("  {} registers ({}); occupancy {:.0f} %, {} blocks on an SM, limited by {}\n",
               a.question.image.registers_per_thread, a.question.registers_from, a.occupancy.fraction * 100,
               a.occupancy.blocks_per_sm, model::name(a.occupancy.limiter));
    if (a.estimate.crossed)
        fmt::print("  the emulation gave {:.4g} cycles, which {} refutes: the time is that bound\n",
                   a.estimate.crossed->emulated_cycles, a.estimate.crossed->by);
    if (!a.bottleneck.all.empty()) {
        const schedule::Sensitivity& first = a.bottleneck.all.front();
        if (first.value >= 0.1)
            fmt::print("  bottleneck {}: {}\n", mode(first), schedule::name(first.resource));
        else
            fmt::print("  no resource stands out: the most, {} {}, has {:.0f} %\n",
                       schedule::name(first.resource), mode(first), first.value * 100);
    }
    fmt::print("\n  {:<18} {:>6} {:>9} {:>11}\n", "resource", "used", "latency", "throughput");
    for (std::size_t r = 0; r < schedule::resource_count; ++r) {
        if (a.estimate.utilisation[r] < 0.0005) continue;
        const auto resource = static_cast<schedule::Resource>(r);
        std::string row =
            fmt::format("  {:<18} {:>5.0f}%", schedule::name(resource), a.estimate.utilisation[r] * 100);
        for (const bool is_gap : {false, true}) {
            const auto found = std::ranges::find_if(a.bottleneck.all, [&](const schedule::Sensitivity& one) {
                return one.resource == resource && one.is_gap == is_gap;
            });
            row += fmt::format(
                " {:>{}}", found == a.bottleneck.all.end() ? "" : fmt::format("{:.0f}%", found->value * 100),
                is_gap ? 11 : 9);
        }
        fmt::print("{}\n", row);
    }
    bool is_first = true;
    for (const schedule::Sensitivity& one : a.bottleneck.regions) {
        if (one.value < 0.01) continue;
        if (std::exchange(is_first, false)) fmt::print("\n  by region\n");
        fmt::print("  {:>4.0f}% {} {} in {}\n", one.value * 100, schedule::name(one.resource), mode(one),
                   region_name(a, one));
    }
}

int write_trace(const EmulateOptions& options, const schedule::TracedLaunch& launch) {
    std::FILE* file = std::fopen(options.trace.c_str(), "w");
    const Error error{.message = "cannot be written", .file = options.trace};
    if (file == nullptr) return fail(error);
    const std::string text = chrome_trace(launch, options.trace_instructions);
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && is_written ? code(ExitCode::ok) : fail(error);
}

int run(const EmulateOptions& options) {
    if (const auto error = launch_is_asked(options.launch, options.grid, options.block))
        return fail(ExitCode::usage, error->message);
    const auto policy = schedule::policy_named(options.policy);
    const auto question = look_up(options.launch);
    if (!question) return fail(question.error());
    const auto grid = grid_of(*question, options.grid);
    if (!grid) return fail(grid.error());
    const auto block = block_of(*question, options.block);
    if (!block) return fail(block.error());
    const auto refuse = [&](std::string_view why) {
        return fail(ExitCode::no, fmt::format("{} cannot be launched on {}: {}",
                                              question->description().demangled, question->device.slug, why));
    };
    const trimtab_device& device = question->device.values;
    const std::uint64_t threads = std::uint64_t{block->x} * block->y * block->z;
    if (threads > device.max_threads_per_block) return refuse(fmt::format("{} threads in a block", threads));
    if (block->x > device.max_block_x || block->y > device.max_block_y || block->z > device.max_block_z ||
        grid->x > device.max_grid_x || grid->y > device.max_grid_y || grid->z > device.max_grid_z)
        return refuse("the block or the grid is beyond the device's limits");
    const double shared = shared_bytes_of(options.launch, *question, *grid, *block);
    const model::Occupancy occupancy =
        model::occupancy(device, question->image, static_cast<std::uint32_t>(threads), shared);
    if (occupancy.blocks_per_sm == 0)
        return refuse("the block does not fit an SM (threads, registers or shared memory)");
    if (const auto complete = require_scalars(question->description(), question->arguments); !complete)
        return fail(complete.error());
    const ScheduleOptions schedule_options{.policy = *policy,
                                           .loads_bypass_l1 = options.loads_bypass_l1,
                                           .from_ptx = options.from_ptx,
                                           .settings = options.settings};
    auto traced = trace_launch(*question, {*grid, *block, static_cast<std::uint32_t>(shared)},
                               occupancy.blocks_per_sm, schedule_options);
    if (!traced) return fail(traced.error());
    Answer answer{.question = *question,
                  .settings = options.settings,
                  .grid = *grid,
                  .block = *block,
                  .occupancy = occupancy,
                  .launch = std::move(*traced),
                  .estimate = {},
                  .bottleneck = {}};
    answer.estimate = schedule::estimate(answer.launch);
    if (!options.no_sensitivity)
        answer.bottleneck = schedule::sensitivities(answer.launch, answer.estimate,
                                                    std::max(1u, std::thread::hardware_concurrency()));
    if (options.launch.json)
        fmt::print("{}\n", to_json(answer).dump(2));
    else
        print_text(answer);
    return options.trace.empty() ? code(ExitCode::ok) : write_trace(options, answer.launch);
}

}  // namespace

void add_emulate(CLI::App& app, Action& action) {
    auto options = std::make_shared<EmulateOptions>();
    CLI::App* command =
        app.add_subcommand("emulate", "Emulate one launch: its time, and which lines limit it")
            ->group(groups::understand);
    command->footer(
        "Emulates the warps of the launch on an SM's resources.\n"
        "Example: trimtab emulate app.cu --kernel K --grid 1024 --block 256 --arg n=4096");
    add_launch_options(*command, options->launch);
    add_shape_options(*command, options->launch, options->grid, options->block);
    command->add_option("--trace", options->trace, "Write the warps' timeline for Perfetto (Chrome's JSON)");
    command
        ->add_option("--trace-instructions", options->trace_instructions,
                     "Write at most so many warp instructions to --trace")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    command
        ->add_option("--policy", options->policy,
                     "Issue warps greedily (gto), or in strict or loose rotation")
        ->check(CLI::IsMember({"gto", "rr", "lrr"}))
        ->capture_default_str();
    command->add_flag("--bypass-l1", options->loads_bypass_l1,
                      "Cache global loads only in L2, as -Xptxas -dlcm=cg does");
    command->add_flag("--from-ptx", options->from_ptx,
                      "Emulate the PTX, even if ptxas could make machine code");
    add_machine_options(*command, options->settings);
    command->add_flag("--no-sensitivity", options->no_sensitivity, "Print only the time");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
