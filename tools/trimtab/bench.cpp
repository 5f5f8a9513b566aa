// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab bench: how long does each launch of a program take with every block that it may have?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/installation.h"
#include "core/base/read_text.h"
#include "pipeline/workers/pool.h"
#include "tools/trimtab/arguments.h"
#include "tools/trimtab/bench_progress.h"
#include "tools/trimtab/bench_report.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/kernel_file.h"
#include "tools/trimtab/measuring_commands.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/shared_run.h"
#include "tools/trimtab/user_program.h"
#include "tools/trimtab/worker_options.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct BenchOptions {
    std::string device, blocks = "all", output = "trimtab-bench", capture;
    std::uint64_t repetitions = 0, seed = 1;
    double seconds = 0;
    bool json = false, quiet = false, again = false;
    std::vector<std::string> program;
    WorkerOptions workers;
};

// The file of times, begun or taken up again.
std::expected<fs::path, Error> times_file(const BenchOptions& options,
                                          const std::vector<std::string>& program) {
    const fs::path folder = fs::absolute(options.output);
    fs::path file = folder / "times.jsonl";
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return std::unexpected(Error{.message = error.message(), .file = folder.string()});
    if (options.again) fs::remove(file, error);
    const char* const given = std::getenv("TRIMTAB_DEVICE");
    const std::string device = given == nullptr ? "" : given;
    if (const std::string text = base::read_text(file).value_or(""); text.contains('\n')) {
        const Bench earlier = read_bench(text);
        if (earlier.program == program && earlier.device == device) return file;
        return std::unexpected(Error{
            .message = earlier.program.empty()
                           ? std::string("is none of trimtab bench's: name another folder with -o")
                           : fmt::format("holds times of {}{}: name another folder with -o, or use --again",
                                         fmt::join(earlier.program, " "),
                                         earlier.device.empty() ? "" : " on " + earlier.device),
            .file = file.string()});
    }
    std::ofstream begun(file, std::ios::binary | std::ios::trunc);
    begun << Json{{"bench", 1}, {"program", program}, {"device", device}}.dump(-1, ' ', false,
                                                                               Json::error_handler_t::replace)
          << '\n';
    if (!begun.flush()) return std::unexpected(Error{.message = "cannot be written", .file = file.string()});
    return file;
}

std::expected<void, Error> write_all(const fs::path& folder, const Bench& bench) {
    const auto write = [&folder](const std::string& name, const std::string& text) {
        return write_report((folder / name).string(), text);
    };
    if (auto done = write("times.csv", to_csv(bench)); !done) return done;
    if (auto done = write("index.html", bench_page(bench)); !done) return done;
    if (auto done = write("bench.json", to_json(bench).dump(1) + "\n"); !done) return done;
    for (std::size_t i = 0; i < bench.launches.size(); ++i) {
        const BenchedLaunch& launch = bench.launches[i];
        if (launch.best() == nullptr) continue;
        if (auto done =
                write(fmt::format("{}-{}.t4.json", base_name(launch.demangled), i + 1), to_t4(launch));
            !done)
            return done;
    }
    return {};
}

int bench(BenchOptions options) {
    // What is asked for, by which a folder is known again; a capture's program has a path of its own.
    const std::vector<std::string> named =
        options.capture.empty()
            ? options.program
            : std::vector<std::string>{"--capture", fs::absolute(options.capture).string()};
    if (const auto ended = take_capture("bench", "a program, after --,", options.capture,
                                        !options.device.empty(), options.device, options.program))
        return *ended;
    const auto blocks = parse_count(options.blocks);
    if (!blocks) return fail(ExitCode::usage, "--blocks wants a number above 0, or all");
    if (!options.device.empty()) {
        const auto device = checked_device(options.device);
        if (!device) return fail(device.error());
        setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    }
    const auto program = base::find_program(options.program.front());
    if (!program) return fail(Error{.message = "no such program", .file = options.program.front()});
    if (const auto error = preload_runtime(*program)) return fail(*error);
    const auto workers = make_pool(options.workers);
    if (!workers) return fail(ExitCode::usage, workers.error().text());
    const auto file = times_file(options, named);
    if (!file) return fail(file.error());
    setenv("TRIMTAB", "on", 1);
    // A kernel whose driver program is still on its way has no choice to be compared.
    setenv("TRIMTAB_MODULES", "wait", 0);
    std::vector<std::string> command = options.program;
    command.front() = *program;
    const std::string earlier = base::read_text(*file).value_or("");
    std::expected<SharedLines, Error> run;
    {
        const BenchProgress progress("trimtab bench", file->string(), options.quiet);
        run = run_shared({.command = std::move(command),
                          .variable = "TRIMTAB_BENCH",
                          .plan = Json({{"blocks", *blocks},
                                        {"repetitions", options.repetitions},
                                        {"seed", options.seed},
                                        {"seconds", options.seconds}})
                                      .dump(),
                          .file = file->string(),
                          .output_on_stderr = options.json},
                         workers->get());
    }
    if (!run) return fail(run.error());
    std::fflush(stdout);
    const base::Outcome* const outcome = &run->outcome;
    // What was there may end in a line that was cut, which the program's runtime takes away.
    const std::string all = earlier.substr(0, earlier.rfind('\n') + 1) + in_order(run->lines);
    if (*workers != nullptr)
        if (const auto written = write_report(file->string(), all); !written) return fail(written.error());
    const Bench bench = read_bench(all);
    if (const auto written = write_all(file->parent_path(), bench); !written) return fail(written.error());
    if (options.json)
        fmt::print("{}\n", to_json(bench).dump(2));
    else
        fmt::print("{}", to_text(bench));
    if (!options.quiet)
        fmt::print(stderr, "trimtab bench: {} holds index.html, times.csv, bench.json and T4 files\n",
                   file->parent_path().string());
    if (!outcome->is_success())
        return fail(Error{.message = "the program " + outcome->text(), .file = *program});
    const bool any = std::ranges::any_of(
        bench.launches, [](const BenchedLaunch& launch) { return launch.best() != nullptr; });
    return any ? code(ExitCode::ok) : fail(ExitCode::no, "no launch could be timed with another block");
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App* command = app.add_subcommand("bench", "Time every block that a program's launches may have")
                            ->group(groups::run);
    command->footer(
        "Continues where an earlier run was stopped.\n"
        "Example: trimtab bench -- ./program arguments");
    command->add_option("--device", options->device,
                        "Use gpu, or emulate this one: slug, name, or JSON file");
    command->add_option("--blocks", options->blocks, "Time so many other blocks, or all legal ones")
        ->capture_default_str();
    command->add_option("--repetitions", options->repetitions,
                        "Time each block so often (default 9 on a GPU, 1 emulated)");
    command->add_option("--seed", options->seed, "Random seed for order and sampling")->capture_default_str();
    command
        ->add_option("--seconds", options->seconds,
                     "Stop after so many seconds; the same command goes on there")
        ->check(CLI::Range(0.0, 1e9));
    command->add_option("-o,--output", options->output, "Write times and tables to this folder")
        ->capture_default_str();
    command->add_flag("--again", options->again, "Start again, and ignore results in the folder");
    command->add_flag("--quiet", options->quiet, "Print no progress");
    command->add_flag("--json", options->json, "Print JSON; the program's own output goes to stderr");
    add_capture_option(*command, options->capture);
    add_worker_options(*command, options->workers);
    command->add_option("PROGRAM", options->program, "The program to run and its arguments, after --")
        ->expected(-1);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace trimtab::tools
