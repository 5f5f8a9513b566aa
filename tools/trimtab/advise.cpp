// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab advise: what holds a program's kernels back, and what mending it would win.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/installation.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "tools/advice/report.h"
#include "tools/trimtab/advised_counters.h"
#include "tools/trimtab/advised_devices.h"
#include "tools/trimtab/advised_run.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/emulated_opinion.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/kernel_facts.h"
#include "tools/trimtab/launch_options.h"
#include "tools/trimtab/machine_options.h"
#include "tools/trimtab/measured_launch.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/report_advice.h"
#include "tools/trimtab/report_html.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {
namespace {

namespace fs = std::filesystem;

struct AdviseOptions {
    std::string capture, counters;
    std::string device, devices, kernel, grid, block, sarif, against, report;
    std::vector<std::string> words, arguments, compiler_flags;
    double dynamic_shared_bytes = 0;
    bool json = false;
    schedule::Settings settings;
};

// A hit rate or caches that are off change what emulation says; the model by which the rest is found has no such number.
void note_settings(advice::Advice& advice, const schedule::Settings& settings) {
    if (settings.is_empty()) return;
    advice.set = to_json(settings).dump();
    const bool is_emulated = settings.l1_hit_rate || settings.l2_hit_rate || settings.no_caches;
    advice.notes.push_back(fmt::format("what if: {}{}", to_text(settings),
                                       is_emulated ? " (caches: only times by emulation)" : ""));
}

// A source becomes a program first.
std::expected<std::string, Error> built(const std::string& source, const AdviseOptions& options,
                                        const base::TemporaryFolder& folder) {
    const auto compiler = base::find_own_program("trimtab++");
    if (!compiler)
        return std::unexpected(Error{
            .message = "trimtab++ is missing next to trimtab; a CUDA source needs it: install all of Trimtab",
            .file = source});
    std::error_code error;
    if (!fs::exists(source, error)) return std::unexpected(Error{.message = "no such file", .file = source});
    std::string program = folder.file("program");
    std::vector<std::string> command{*compiler, "--trimtab-quiet", "-O3"};
    command.insert(command.end(), options.compiler_flags.begin(), options.compiler_flags.end());
    command.insert(command.end(), {source, "-o", program});
    const auto outcome = base::run({.words = command, .writes_on_stderr = true});
    if (!outcome || !outcome->is_success())
        return std::unexpected(Error{.message = "trimtab++ cannot build it", .file = source});
    return program;
}

std::expected<void, Error> write_page(const AdviseOptions& options, const AdvisedRun& run,
                                      const std::string& lines) {
    return write_report(options.report, report_page(lines, options.words,
                                                    {.style = advice_style(),
                                                     .body = advice_sections(run.advice, run.device),
                                                     .device = run.device.name,
                                                     .ran_as_written = true}));
}

std::expected<AdvisedRun, Error> of_launch(const AdviseOptions& options) {
    const auto grid = parse_dim3(options.grid, "--grid");
    if (!grid) return std::unexpected(grid.error());
    const auto block = parse_dim3(options.block, "--block");
    if (!block) return std::unexpected(block.error());
    LaunchOptions launch{
        .file = options.words.front(),
        .kernel = options.kernel,
        .device = options.device.empty() ? std::string(model::default_device) : options.device,
        .arguments = options.arguments,
        .compiler_flags = options.compiler_flags,
        .dynamic_shared_bytes = options.dynamic_shared_bytes,
        .json = options.json};
    auto question = look_up(launch);
    if (!question) return std::unexpected(question.error());
    const auto threads = static_cast<double>(block->x) * block->y * block->z;
    if (threads > question->device.values.max_threads_per_block)
        return std::unexpected(Error{.message = fmt::format("--block: {} threads are more than {} allows, {}",
                                                            threads, question->device.slug,
                                                            question->device.values.max_threads_per_block)});
    if (const auto complete = require_scalars(question->description(), question->arguments); !complete)
        return std::unexpected(complete.error());
    question->device = schedule::with_settings(std::move(question->device), options.settings);
    const auto measured =
        measure_launch(*question, *grid, *block, static_cast<std::uint32_t>(options.dynamic_shared_bytes));
    if (!measured) return std::unexpected(measured.error());
    AdvisedRun run;
    EmulatedOpinion opinion(question->file, question->device, options.settings);
    run.advice =
        advice::advise({measured->profile}, question->device,
                       {{question->description().name, facts_of(question->description())}}, {}, &opinion);
    run.advice.program = {options.words.front()};
    note_settings(run.advice, options.settings);
    run.device = question->device;
    if (!options.report.empty())
        if (const auto written = write_page(options, run, ""); !written)
            return std::unexpected(written.error());
    return run;
}

// What runs: a source is built into `folder` first.
std::expected<std::vector<std::string>, Error> command_of(const AdviseOptions& options,
                                                          const base::TemporaryFolder& folder) {
    std::vector<std::string> command = options.words;
    const std::string extension = fs::path(command.front()).extension().string();
    if (extension == ".ptx" || extension == ".o")
        return std::unexpected(
            Error{.message = "is no program: say which launch, with --kernel, --grid and --block",
                  .file = command.front()});
    if (extension == ".cu") {
        auto program = built(command.front(), options, folder);
        if (!program) return std::unexpected(program.error());
        command.front() = *program;
    } else if (const auto program = base::find_program(command.front())) {
        command.front() = *program;
    } else if (const auto file = base::find_program("./" + command.front())) {
        command.front() = *file;  // a FILE may be named without its folder
    } else {
        return std::unexpected(Error{.message = "no such program", .file = command.front()});
    }
    if (const auto error = preload_runtime(command.front())) return std::unexpected(*error);
    return command;
}

std::expected<AdvisedRun, Error> of_program(const AdviseOptions& options) {
    if (const auto can = require_emulator(); !can) return std::unexpected(can.error());
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const auto command = command_of(options, *folder);
    if (!command) return std::unexpected(command.error());
    // Launches as they are written: advice is about the source. A page tells what would have been chosen.
    const std::string lines = folder->file("report.jsonl");
    if (!options.report.empty()) {
        setenv("TRIMTAB_REPORT", lines.c_str(), 1);
        setenv("TRIMTAB_REPORT_BLOCKS", "1", 1);
    }
    setenv("TRIMTAB", options.report.empty() ? "off" : "observe", 0);
    const auto recorded = recorded_run(*command, true);
    if (!recorded) return std::unexpected(recorded.error());
    auto run = advice_of(*recorded, options.settings);
    if (!run) return run;
    note_settings(run->advice, options.settings);
    run->advice.program = options.capture.empty() ? options.words : std::vector{options.capture};
    if (!options.report.empty()) {
        const std::string text = base::read_text(lines).value_or("");
        if (const auto written = write_page(options, *run, text); !written)
            return std::unexpected(written.error());
    }
    return run;
}

// FILE, whose kernels were counted, is no program to run.
std::expected<AdvisedRun, Error> of_counters(const AdviseOptions& options) {
    return advice_of_counters({.file = options.counters,
                               .device = options.device,
                               .program = options.words.empty() ? std::string() : options.words.front(),
                               .compiler_flags = options.compiler_flags});
}

std::expected<AdvisedRun, Error> advised_run(const AdviseOptions& options) {
    if (!options.counters.empty()) return of_counters(options);
    return options.grid.empty() ? of_program(options) : of_launch(options);
}

int compare_devices(const AdviseOptions& options) {
    const auto devices = devices_of(options.devices);
    if (!devices) return fail(devices.error());
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    const auto command = command_of(options, *folder);
    if (!command) return fail(command.error());
    setenv("TRIMTAB", "off", 0);
    const auto runs = advised_on(*devices, *command, options.settings);
    if (!runs) return fail(runs.error());
    fmt::print("{}", options.json ? devices_json(*runs) : devices_text(*runs));
    return code(ExitCode::ok);
}

int run(AdviseOptions options) {
    if (!options.devices.empty()) return compare_devices(options);
    if (!options.counters.empty() && options.words.size() > 1)
        return fail(ExitCode::usage,
                    "--counters takes one FILE beside it: the program whose kernels were counted");
    if (!options.counters.empty() && !options.settings.is_empty())
        return fail(ExitCode::usage,
                    "--counters is of a GPU as it is: it takes no other latencies, gaps or caches");
    if (options.counters.empty())
        if (const auto ended = take_capture("advise", "a program or FILE,", options.capture,
                                            !options.device.empty(), options.device, options.words))
            return *ended;
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    for (const std::string& file : {options.sarif, options.report})
        if (!file.empty())
            if (const auto error = cannot_write(file)) return fail(*error);
    // Before the program runs, which may take long.
    std::vector<advice::FormerKernel> former;
    if (!options.against.empty()) {
        const auto text = base::read_text(options.against);
        if (!text) return fail(Error{.message = "cannot read the file", .file = options.against});
        auto read = advice::former_report(*text, options.against);
        if (!read) return fail(read.error());
        former = std::move(*read);
    }
    const auto advised = advised_run(options);
    if (!advised) return fail(advised.error());
    const advice::Advice& advice = advised->advice;
    fmt::print("{}", options.json ? advice::to_json(advice) : advice::to_text(advice));
    if (!options.sarif.empty())
        if (const auto written = write_report(options.sarif, advice::to_sarif(advice)); !written)
            return fail(written.error());
    if (options.against.empty()) return advised->exit_code;
    const std::vector<std::string> worse = advice::worse_than(advice, former);
    for (const std::string& line : worse) say("worse than before: " + line);
    return worse.empty() ? advised->exit_code : code(ExitCode::no);
}

}  // namespace

void add_advise(CLI::App& app, Action& action) {
    auto options = std::make_shared<AdviseOptions>();
    CLI::App* command = app.add_subcommand("advise", "Show what limits kernels, where, and what a fix gains")
                            ->group(groups::understand);
    command->footer("Example: trimtab advise -- ./program arguments");
    auto* device =
        command->add_option("--device", options->device, "Emulate this GPU: slug, name, or JSON file");
    auto* devices = command->add_option("--devices", options->devices,
                                        "Instead, compare the program on these GPUs: A,B,C");
    command->add_flag("--json", options->json, "Print JSON; the program's own output goes to stderr");
    auto* sarif = command->add_option("--sarif", options->sarif,
                                      "Write the findings for editors and code reviews (SARIF 2.1.0)");
    auto* against = command->add_option("--against", options->against,
                                        "Compare with a former --json: exit 1 if slower, or a new defect");
    auto* report = command->add_option("--report", options->report, "Write one self-contained page (.html)");
    command->add_option("--kernel", options->kernel, "Advise on one launch of this kernel of FILE");
    auto* grid = command->add_option("--grid", options->grid, "Launch so many blocks: X[,Y[,Z]]");
    auto* block = command->add_option("--block", options->block, "Use so many threads per block: X[,Y[,Z]]");
    grid->needs(block);
    block->needs(grid);
    command->add_option("--arg", options->arguments, "Set a kernel argument: NAME=VALUE, by name or index")
        ->allow_extra_args(false)
        ->take_all();
    command
        ->add_option("--dynamic-shared", options->dynamic_shared_bytes,
                     "Use so many bytes of dynamic shared memory")
        ->check(CLI::NonNegativeNumber);
    command
        ->add_option("--flag", options->compiler_flags,
                     "Compile the CUDA source with this flag, as --flag=-DN=4")
        ->allow_extra_args(false)
        ->take_all();
    add_machine_options(*command, options->settings);
    auto* capture = add_capture_option(*command, options->capture);
    capture->excludes(grid);
    auto* counters =
        command->add_option("--counters", options->counters,
                            "Advise from a GPU's counters: ncu --csv, or trimtab profile --counters");
    for (CLI::Option* other : {device, sarif, against, report, grid, capture}) devices->excludes(other);
    for (CLI::Option* other : {devices, report, grid, capture}) counters->excludes(other);
    command->add_option("PROGRAM", options->words, "The program to run and its arguments, after --; or FILE")
        ->expected(-1);
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
