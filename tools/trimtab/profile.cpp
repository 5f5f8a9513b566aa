// trimtab profile: profiles of a program's own launches, for the store that trimtab++ and the tools take profiles from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/installation.h"
#include "base/json_value.h"
#include "base/temporary_folder.h"
#include "model/device.h"
#include "tools/trimtab/bench_progress.h"
#include "tools/trimtab/benched_launches.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/measuring_commands.h"
#include "tools/trimtab/observed_kernels.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string device, store, capture;
    std::uint64_t blocks = 24, seed = 1;
    bool replace = false, json = false, quiet = false;
    std::vector<std::string> program;
};

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string text_of(const ObservedKernel& kernel) {
    std::string out = fmt::format("{}: ", kernel.demangled);
    if (!kernel.failure.empty()) return out + kernel.failure + "\n";
    out += fmt::format("{} points of {} launches", kernel.points, kernel.launches);
    if (!kernel.planned.empty()) out += "; " + kernel.planned;
    out += kernel.is_stored
               ? "; kept, for builds and tools to take\n"
               : "; not kept: the planned profile speaks for all sizes (--replace keeps this one)\n";
    return out;
}

int profile(Options options) {
    if (const auto ended = take_capture("profile", "a program, after --,", options.capture,
                                        !options.device.empty(), options.device, options.program))
        return *ended;
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    const char* const asked = std::getenv("TRIMTAB_DEVICE");
    if (asked != nullptr && std::string_view(asked).contains("gpu"))
        return fail(ExitCode::usage, "launches are counted on the emulator: name a device to play");
    // Where a GPU is present, a device must be named for the emulator to play.
    setenv("TRIMTAB_DEVICE", std::string(model::default_device).c_str(), 0);
    const auto program = base::find_program(options.program.front());
    if (!program) return fail(Error{.message = "no such program", .file = options.program.front()});
    if (const auto error = preload_runtime(*program)) return fail(*error);
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    const std::string records = folder->file("profiles.jsonl"), shapes = folder->file("shapes.jsonl");
    // Each kind of launch with several blocks, as trimtab bench has it, and what each did.
    setenv("TRIMTAB_BENCH",
           Json{{"file", shapes}, {"blocks", options.blocks}, {"seed", options.seed}}.dump().c_str(), 1);
    setenv("TRIMTAB_PROFILES", records.c_str(), 1);
    setenv("TRIMTAB_PROFILES_BY", "arguments", 1);
    setenv("TRIMTAB", "on", 1);
    std::vector<std::string> command = options.program;
    command.front() = *program;
    std::expected<base::Outcome, Error> outcome;
    {
        const BenchProgress progress("trimtab profile", shapes, options.quiet);
        outcome = run_user_program(command, options.json);
    }
    for (const char* variable : {"TRIMTAB_BENCH", "TRIMTAB_PROFILES", "TRIMTAB_PROFILES_BY"})
        unsetenv(variable);
    if (!outcome) return fail(outcome.error());
    std::fflush(stdout);
    const Bench bench = read_bench(read_text(shapes));
    const auto kernels = observed_kernels(
        bench, read_text(records), {.program = *program, .store = options.store, .replace = options.replace});
    if (!kernels) return fail(kernels.error());
    if (options.json) {
        fmt::print("{}\n", to_json(*kernels, bench).dump(2));
    } else {
        for (const ObservedKernel& kernel : *kernels) fmt::print("{}", text_of(kernel));
        for (const auto& [kernel, why] : bench.skipped) fmt::print("{}: not profiled: {}\n", kernel, why);
    }
    if (!outcome->is_success())
        return fail(Error{.message = "the program " + outcome->text(), .file = *program});
    const bool any =
        std::ranges::any_of(*kernels, [](const ObservedKernel& kernel) { return kernel.points > 0; });
    return any ? code(ExitCode::ok) : fail(ExitCode::no, "no launch could be profiled");
}

}  // namespace

void add_profile(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "profile",
        "Profile the launches that a program itself makes, with its own data: trimtab profile -- ./program "
        "arguments. Later builds and tools take these profiles for kernels that made-up launches say nothing "
        "of");
    command->add_option("--device", options->device,
                        "The GPU to emulate: slug, name, or a description in JSON");
    command->add_option("--blocks", options->blocks, "How many other blocks each kind of launch is run with")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    command->add_option(
        "--store", options->store,
        "The profile store: a folder or a file, as --trimtab-profile takes it; default: the cache");
    command->add_option("--seed", options->seed, "Of the blocks")->capture_default_str();
    command->add_flag(
        "--replace", options->replace,
        "Keep these profiles in the place of planned ones, too, that say nothing is wrong with them");
    command->add_flag("--quiet", options->quiet, "No progress");
    command->add_flag("--json", options->json,
                      "Print JSON; what the program writes on stdout goes to stderr");
    add_capture_option(*command, options->capture);
    command->add_option("PROGRAM", options->program, "After --: the program and its arguments")->expected(-1);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return profile(*options); }; });
}

}  // namespace trimtab::tools
