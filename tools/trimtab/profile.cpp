// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab profile: profiles of a program's own launches, for the store that trimtab++ and the tools take profiles from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/installation.h"
#include "core/base/json_value.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "core/model/device.h"
#include "tools/trimtab/bench_progress.h"
#include "tools/trimtab/benched_launches.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/measuring_commands.h"
#include "tools/trimtab/observed_kernels.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct ProfileOptions {
    std::string device, store, capture, counters;
    std::uint64_t blocks = 24, seed = 1;
    bool replace = false, json = false, quiet = false;
    std::vector<std::string> program;
};

std::string text_of(const ObservedKernel& kernel) {
    std::string out = fmt::format("{}: ", kernel.demangled);
    if (!kernel.failure.empty()) return out + kernel.failure + "\n";
    out += fmt::format("{} points of {} launches", kernel.points, kernel.launches);
    if (!kernel.planned.empty()) out += "; " + kernel.planned;
    out += kernel.is_stored ? "; kept, for builds and tools to take"
                            : "; not kept: the planned profile covers all sizes (--replace keeps this one)";
    if (kernel.is_prepared_again) out += "; its prepared module is made again when it is wanted";
    return out + "\n";
}

// The program's launches, each with several blocks, as trimtab bench has it.
struct Run {
    base::Outcome outcome;
    Bench launches;
    std::string records;  // of what each did, on the emulator
};

// On the device that TRIMTAB_DEVICE names. `counts`: by the GPU's counters.
std::expected<Run, Error> run(const ProfileOptions& options, const std::string& program, bool counts,
                              bool output_on_stderr) {
    if (const auto error = preload_runtime(program)) return std::unexpected(*error);
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string records = folder->file("profiles.jsonl"), shapes = folder->file("shapes.jsonl");
    const Json plan = {
        {"file", shapes}, {"blocks", options.blocks}, {"seed", options.seed}, {"counters", counts}};
    setenv("TRIMTAB_BENCH", plan.dump().c_str(), 1);
    if (!counts) {
        setenv("TRIMTAB_PROFILES", records.c_str(), 1);
        setenv("TRIMTAB_PROFILES_BY", "arguments", 1);
    }
    setenv("TRIMTAB", "on", 1);
    setenv("TRIMTAB_MODULES", "wait", 0);  // a program of another compiler has no driver programs yet
    std::vector<std::string> command = options.program;
    command.front() = program;
    std::expected<base::Outcome, Error> outcome;
    {
        const BenchProgress progress("trimtab profile", shapes, options.quiet);
        outcome = run_user_program(command, output_on_stderr);
    }
    for (const char* variable : {"TRIMTAB_BENCH", "TRIMTAB_PROFILES", "TRIMTAB_PROFILES_BY"})
        unsetenv(variable);
    if (!outcome) return std::unexpected(outcome.error());
    std::fflush(stdout);
    const std::string lines = base::read_text(shapes).value_or("");
    if (counts && !options.counters.empty())
        if (const auto written = write_report(options.counters, lines); !written)
            return std::unexpected(written.error());
    return Run{
        .outcome = *outcome, .launches = read_bench(lines), .records = base::read_text(records).value_or("")};
}

// The device that the emulator plays beside the GPU: what it counts follows from the launch, and hardly from the device.
std::string played_beside(const Bench& counted) {
    for (const BenchedLaunch& launch : counted.launches)
        if (const auto device = model::find_device(launch.device)) return device->slug;
    return std::string(model::default_device);
}

// Where a GPU counts: its launches first. The exit code, where it is over with that.
std::expected<Bench, int> counted_on_gpu(const ProfileOptions& options, const std::string& program) {
    auto counted = run(options, program, true, options.json);
    if (!counted) return std::unexpected(fail(counted.error()));
    if (!counted->outcome.is_success())
        return std::unexpected(
            fail(Error{.message = "the program " + counted->outcome.text(), .file = program}));
    const bool any = std::ranges::any_of(counted->launches.launches, [](const BenchedLaunch& launch) {
        return std::ranges::any_of(launch.shapes,
                                   [](const TimedShape& shape) { return !shape.counters.empty(); });
    });
    if (!any) {
        for (const auto& [kernel, why] : counted->launches.skipped)
            fmt::print(stderr, "trimtab profile: {}: not counted: {}\n", kernel, why);
        for (const BenchedLaunch& launch : counted->launches.launches)
            if (!launch.ended.empty())
                fmt::print(stderr, "trimtab profile: {}: not counted: {}\n", launch.demangled, launch.ended);
        return std::unexpected(fail(ExitCode::no, "no launch could be counted on the GPU"));
    }
    setenv("TRIMTAB_DEVICE", played_beside(counted->launches).c_str(), 1);
    return std::move(counted->launches);
}

int profile(ProfileOptions options) {
    if (const auto ended = take_capture("profile", "a program, after --,", options.capture,
                                        !options.device.empty(), options.device, options.program))
        return *ended;
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    const char* const asked = std::getenv("TRIMTAB_DEVICE");
    const bool is_gpu = asked != nullptr && std::string_view(asked) == "gpu";
    if (!is_gpu && asked != nullptr && std::string_view(asked).contains("gpu"))
        return fail(ExitCode::usage, "launches are counted on one GPU, or on the emulator");
    if (!options.counters.empty() && !is_gpu)
        return fail(ExitCode::usage, "--counters keeps what a GPU counts: it needs --device gpu");
    if (!options.counters.empty())
        if (const auto error = cannot_write(options.counters)) return fail(*error);
    // Where a GPU is present, a device must be named for the emulator to play.
    setenv("TRIMTAB_DEVICE", std::string(model::default_device).c_str(), 0);
    const auto program = base::find_program(options.program.front());
    if (!program) return fail(Error{.message = "no such program", .file = options.program.front()});
    std::optional<Bench> counted;
    if (is_gpu) {
        auto bench = counted_on_gpu(options, *program);
        if (!bench) return bench.error();
        counted = std::move(*bench);
    }
    // The program runs once more after a GPU has counted: what it prints is there already.
    const auto emulated = run(options, *program, false, options.json || counted);
    if (!emulated) return fail(emulated.error());
    const auto kernels = observed_kernels(emulated->launches, emulated->records,
                                          {.program = *program,
                                           .capture = options.capture,
                                           .store = options.store,
                                           .replace = options.replace,
                                           .counted = counted ? &*counted : nullptr});
    if (!kernels) return fail(kernels.error());
    const Bench& bench = emulated->launches;
    if (options.json) {
        fmt::print("{}\n", to_json(*kernels, bench).dump(2));
    } else {
        for (const ObservedKernel& kernel : *kernels) {
            fmt::print("{}", text_of(kernel));
            if (kernel.counted) fmt::print("{}", to_text(*kernel.counted));
        }
        for (const auto& [kernel, why] : bench.skipped) fmt::print("{}: not profiled: {}\n", kernel, why);
    }
    if (!emulated->outcome.is_success())
        return fail(Error{.message = "the program " + emulated->outcome.text(), .file = *program});
    const bool any =
        std::ranges::any_of(*kernels, [](const ObservedKernel& kernel) { return kernel.points > 0; });
    return any ? code(ExitCode::ok) : fail(ExitCode::no, "no launch could be profiled");
}

}  // namespace

void add_profile(CLI::App& app, Action& action) {
    auto options = std::make_shared<ProfileOptions>();
    CLI::App* command = app.add_subcommand("profile", "Profile a program's own launches, for later builds")
                            ->group(groups::choose);
    command->footer(
        "Later builds use these profiles if invented launches say nothing of a kernel.\n"
        "Example: trimtab profile -- ./program arguments");
    command->add_option("--device", options->device,
                        "Emulate this GPU (slug, name, JSON file); gpu: also read its counters");
    command->add_option("--blocks", options->blocks, "Run each kind of launch with so many other blocks")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    command->add_option("--store", options->store,
                        "Keep profiles in this folder or file (default: the user's cache)");
    command->add_option("--seed", options->seed, "Random seed for the blocks")->capture_default_str();
    command->add_option("--counters", options->counters,
                        "Keep the GPU's counters in this file, for trimtab advise --counters");
    command->add_flag("--replace", options->replace,
                      "Replace planned profiles too, even if nothing is wrong with them");
    command->add_flag("--quiet", options->quiet, "Print no progress");
    command->add_flag("--json", options->json, "Print JSON; the program's own output goes to stderr");
    add_capture_option(*command, options->capture);
    command->add_option("PROGRAM", options->program, "The program to run and its arguments, after --")
        ->expected(-1);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return profile(*options); }; });
}

}  // namespace trimtab::tools
