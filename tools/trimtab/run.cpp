// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab run: a program with its launches chosen for a device, and a report of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/base/installation.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "tools/advice/report.h"
#include "tools/trimtab/advised_run.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/program_check.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/report_advice.h"
#include "tools/trimtab/report_html.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;

struct RunOptions {
    std::string device, report, checks, capture;
    bool json = false, advise = false;
    std::vector<std::string> program;
};

// On stderr, so that the program's output stays its own.
void say_advice(const advice::Advice& advice, bool json) {
    if (json)
        fmt::print("{}", advice::to_json(advice));
    else
        fmt::print(stderr, "{}", advice::to_text(advice));
}

// Its own file, whatever the program prints.
int run_with_page(const std::vector<std::string>& command, const RunOptions& options) {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    const std::string lines = folder->file("report.jsonl");
    setenv("TRIMTAB_REPORT", lines.c_str(), 1);
    setenv("TRIMTAB_REPORT_BLOCKS", "1", 1);
    // On a GPU there are none.
    const std::string profiles = folder->file("profiles.jsonl");
    setenv("TRIMTAB_PROFILES", profiles.c_str(), 1);
    const auto outcome = run_user_program(command, options.advise && options.json);
    if (!outcome) return fail(outcome.error());
    AdviceParts parts;
    if (const auto advised = advice_of(profiles, command.front())) {
        parts = {.style = advice_style(),
                 .body = advice_sections(advised->advice, advised->device),
                 .device = advised->device.name};
        if (options.advise) say_advice(advised->advice, options.json);
    } else if (options.advise) {
        fail(advised.error());
    }
    const auto written = write_report(
        options.report, report_page(base::read_text(lines).value_or(""), options.program, parts));
    if (!written) fail(written.error());
    if (!outcome->is_success()) return outcome->exit_code;
    return code(written ? ExitCode::ok : ExitCode::bad_input);
}

int run_with_advice(const std::vector<std::string>& command, const RunOptions& options) {
    if (!options.report.empty()) setenv("TRIMTAB_REPORT", fs::absolute(options.report).c_str(), 1);
    const auto run = recorded_run(command, options.json);
    if (!run) return fail(run.error());
    const auto advised = advice_of(*run);
    if (!advised) {
        const int failed = fail(advised.error());
        // The program's own status stands before what becomes of the advice.
        return run->outcome.is_success() ? failed : run->outcome.exit_code;
    }
    say_advice(advised->advice, options.json);
    return advised->exit_code;
}

int run(RunOptions options) {
    if (const auto ended = take_capture("run", "a program, after --,", options.capture,
                                        !options.device.empty(), options.device, options.program))
        return *ended;
    const auto program = base::find_program(options.program.front());
    if (!program) return fail(Error{.message = "no such program", .file = options.program.front()});
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    if (const auto error = preload_runtime(*program)) return fail(*error);
    if (!options.report.empty())
        if (const auto error = cannot_write(options.report)) return fail(*error);
    std::vector<std::string> command = options.program;
    command.front() = *program;
    if (options.json && options.checks.empty() && !options.advise)
        return fail(ExitCode::usage, "--json goes with --check or --advise");
    if (options.advise)
        if (const auto can = require_emulator(); !can) return fail(can.error());
    if (!options.checks.empty())
        return run_checked(command,
                           {.checks = options.checks, .report = options.report, .json = options.json});
    if (options.report.ends_with(".html")) return run_with_page(command, options);
    if (options.advise) return run_with_advice(command, options);
    if (!options.report.empty()) setenv("TRIMTAB_REPORT", fs::absolute(options.report).c_str(), 1);
    const auto outcome = run_user_program(command);
    return outcome ? outcome->exit_code : fail(outcome.error());
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* command = app.add_subcommand("run", "Run a program with chosen blocks, on a GPU or emulated")
                            ->group(groups::run);
    command->footer("Example: trimtab run --device h100 -- ./program arguments");
    command->add_option("--device", options->device,
                        "Use gpu, or emulate these: slugs, names or JSON files, with commas");
    command->add_option("--report", options->report,
                        "Write every choice (or --check's findings): .html, else JSON lines");
    auto* check = command->add_option("--check", options->checks,
                                      "Look for defects on the emulator: memory, race, init, sync, or all");
    auto* advise = command->add_flag("--advise", options->advise,
                                     "Print what limits the kernels to stderr (see trimtab advise)");
    advise->excludes(check);
    command->add_flag("--json", options->json, "Print what --check or --advise finds as JSON on stdout");
    add_capture_option(*command, options->capture);
    command->add_option("PROGRAM", options->program, "The program to run and its arguments, after --")
        ->expected(-1);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
