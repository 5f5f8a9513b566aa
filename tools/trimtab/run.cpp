// trimtab run: a program with its launches chosen for a device, and a report of them.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/trimtab/command.h"
#include "tools/trimtab/process.h"
#include "tools/trimtab/program_check.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/report_html.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;

struct Options {
    std::string device, report;
    CheckOptions check;
    std::vector<std::string> program;
};

int write_page(const std::string& page_path, const std::string& lines_path,
               const std::vector<std::string>& command) {
    std::ifstream lines(lines_path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(lines), std::istreambuf_iterator<char>()};
    std::ofstream page(page_path, std::ios::binary);
    if (!(page << report_page(text, command)) || !page.flush())
        return fail(Error{.message = "the report cannot be written", .file = page_path});
    return code(ExitCode::ok);
}

int run(const Options& options) {
    const auto program = find_program(options.program.front());
    if (!program) return fail(Error{.message = "no such program", .file = options.program.front()});
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    if (const auto error = preload_runtime(*program)) return fail(*error);
    std::vector<std::string> command = options.program;
    command.front() = *program;
    if (!options.check.checks.empty()) return run_checked(command, options.check);
    if (options.report.ends_with(".html")) {
        const TemporaryFolder folder;
        const std::string lines = folder.file("report.jsonl");
        setenv("TRIMTAB_REPORT", lines.c_str(), 1);
        setenv("TRIMTAB_REPORT_BLOCKS", "1", 1);
        const Outcome outcome = run_program(command, Capture::nothing);
        if (!outcome.started) return fail(Error{.message = "cannot be run", .file = *program});
        const int written = write_page(options.report, lines, options.program);
        return outcome.exit_code != 0 ? outcome.exit_code : written;
    }
    if (!options.report.empty()) setenv("TRIMTAB_REPORT", fs::absolute(options.report).c_str(), 1);
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    execv(program->c_str(), arguments.data());
    return fail(Error{.message = std::strerror(errno), .file = *program});
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "run",
        "Run a CUDA program with its launches chosen: trimtab run --device h100 -- ./program arguments");
    command->add_option(
        "--device", options->device,
        "gpu, or the GPU to emulate: slug, name, or a description in JSON; several with commas");
    auto* report = command->add_option(
        "--report", options->report,
        "Write what was chosen for every launch: a page (.html), else one JSON object a line");
    auto* check = command->add_option(
        "--check", options->check.checks,
        "Run on the emulator and look for defects of the kernels: memory, race, init, sync (several with "
        "commas), or all; exits with 1 if there are any");
    command->add_flag("--json", options->check.json, "What --check finds as JSON on stdout")->needs(check);
    check->excludes(report);
    command->add_option("PROGRAM", options->program, "After --: the program and its arguments")
        ->required()
        ->expected(-1);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
