// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab suggest: which blocks do kernels work with that no proof lets go?
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "core/analysis/launches/demangle.h"
#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/temporary_folder.h"
#include "pipeline/workers/pool.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/shared_run.h"
#include "tools/trimtab/suggestions.h"
#include "tools/trimtab/user_program.h"
#include "tools/trimtab/worker_options.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct SuggestOptions {
    std::string capture, device = "rtx2070super", output;
    std::uint64_t seconds = 300, launches = 4, seed = 1;
    std::vector<std::string> again;  // further arguments, as a shell's words
    bool json = false, quiet = false, reassociate = false;
    const CLI::Option* device_option = nullptr;
    WorkerOptions workers;
    std::vector<std::string> program;
};

// --- Ctrl-C: the program gets it, and what was found by then is told ---

std::atomic<pid_t> running = 0;
std::atomic<int> interruptions = 0;

void interrupt(int signal) {
    constexpr int patience = 3;  // a program may have its own mind
    const int count = ++interruptions;
    if (const pid_t program = running.load(); program > 0) kill(program, count < patience ? signal : SIGKILL);
}

void tell_program_of_interruptions() {
    struct sigaction action{};
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
}

// --- Progress: the lines that the program's runtime writes, as they come ---

class Watcher {
  public:
    Watcher(std::string file, std::uint64_t seconds, bool quiet)
        : file_(std::move(file)), seconds_(seconds), is_terminal_(isatty(STDERR_FILENO) != 0) {
        if (!quiet) thread_ = std::thread([this] { watch(); });
    }
    ~Watcher() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        condition_.notify_all();
        if (thread_.joinable()) thread_.join();
        if (is_shown_) fmt::print(stderr, "\r\033[K");
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

  private:
    void watch() {
        constexpr auto between_looks = std::chrono::milliseconds(200);
        std::ifstream lines;
        std::unique_lock lock(mutex_);
        for (;;) {
            condition_.wait_for(lock, between_looks, [this] { return ended_; });
            if (!lines.is_open()) lines.open(file_, std::ios::binary);
            for (std::string text; lines.is_open() && std::getline(lines, text);) read(text);
            lines.clear();
            if (ended_) return;
            if (is_terminal_) draw();
        }
    }
    void read(const std::string& text) {
        const Json line = Json::parse(text, nullptr, false);
        if (!line.is_object() || line.value("launches", 0) == 0) return;
        std::size_t standing = 0;
        for (const Json& one : line["hypotheses"]) standing += one.value("fallen", "").empty() ? 1 : 0;
        const std::string kernel = analysis::demangle(line.value("kernel", ""));
        latest_ = fmt::format("{}: launch {}, run {}, {} hypotheses", kernel.substr(0, kernel.find('(')),
                              line.value("launches", 0), line.value("runs", 0), standing);
        if (!is_terminal_ && told_.insert(kernel).second) fmt::print(stderr, "trimtab: {}\n", latest_);
    }
    void draw() {
        constexpr int columns = 24;
        const double passed = std::chrono::duration<double>(Clock::now() - start_).count();
        const double part = seconds_ == 0 ? 0 : std::min(1.0, passed / static_cast<double>(seconds_));
        const int full = static_cast<int>(part * columns);
        fmt::print(stderr, "\r\033[K[{:=<{}}{: <{}}] {:.0f} s {}", "", full, "", columns - full, passed,
                   latest_);
        std::fflush(stderr);
        is_shown_ = true;
    }

    const std::string file_;
    const std::uint64_t seconds_;
    const bool is_terminal_;
    bool is_shown_ = false, ended_ = false;
    const Clock::time_point start_ = Clock::now();
    std::string latest_;
    std::set<std::string> told_;
    std::mutex mutex_;
    std::condition_variable condition_;
    std::thread thread_;
};

// The command lines to run, the program's own first.
std::expected<std::vector<std::vector<std::string>>, Error> command_lines(const SuggestOptions& options) {
    const auto program = base::find_program(options.program.front());
    if (!program)
        return std::unexpected(Error{.message = "no such program", .file = options.program.front()});
    std::vector<std::vector<std::string>> lines{options.program};
    for (const std::string& words : options.again) {
        lines.push_back({options.program.front()});
        for (std::string& word : CLI::detail::split_up(words)) lines.back().push_back(std::move(word));
    }
    for (std::vector<std::string>& line : lines) line.front() = *program;
    return lines;
}

std::expected<SharedLines, Error> run_tried(const std::vector<std::string>& command,
                                            const SuggestOptions& options, const std::string& lines,
                                            workers::WorkerPool* pool) {
    const Watcher watcher(lines, options.seconds, options.quiet);
    return run_shared(
        {.command = command,
         .variable = "TRIMTAB_SUGGEST",
         .plan = Json({{"seconds", options.seconds}, {"launches", options.launches}, {"seed", options.seed}})
                     .dump(),
         .file = lines,
         .output_on_stderr = options.json,
         .running = [](pid_t process) { running = process; },
         .is_over = [] { return interruptions > 0; }},
        pool);
}

// Processes are told apart, those of other shares and machines too.
std::string with_process(const std::string& text, std::size_t run, std::size_t share) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string::npos) break;
        Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
        at = end + 1;
        if (!line.is_object()) continue;
        line["process"] = Json{run, share, line.value("process", 0)};
        out += line.dump() + '\n';
    }
    return out;
}

int tell(const SuggestOptions& options, const Suggestions& suggestions) {
    if (!options.output.empty())
        if (const auto written = write_report(
                options.output, annotation_file(suggestions, options.reassociate).dump(1) + "\n");
            !written)
            return fail(written.error());
    if (options.json)
        fmt::print("{}\n", to_json(suggestions).dump(2));
    else
        fmt::print("{}", to_text(suggestions));
    if (!options.output.empty() && !options.json && suggestions.count() > 0)
        fmt::print("written to {0}: trimtab++ --trimtab-annotations={0}, or TRIMTAB_ANNOTATIONS={0}\n",
                   options.output);
    return code(suggestions.count() > 0 ? ExitCode::ok : ExitCode::no);
}

int suggest(SuggestOptions options) {
    if (const auto ended = take_capture("suggest", "a program, after --,", options.capture,
                                        options.device_option->count() > 0, options.device, options.program))
        return *ended;
    const auto commands = command_lines(options);
    if (!commands) return fail(commands.error());
    const auto device = checked_device(options.device);
    if (!device) return fail(device.error());
    if (device->contains("gpu")) return fail(ExitCode::usage, "suggest runs on the emulator: name a device");
    const auto workers = make_pool(options.workers, [] { return interruptions > 0; });
    if (!workers) return fail(ExitCode::usage, workers.error().text());
    if (const auto error = preload_runtime(commands->front().front())) return fail(*error);
    if (!options.output.empty())
        if (const auto error = cannot_write(options.output)) return fail(*error);
    tell_program_of_interruptions();
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    std::string found;
    setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    setenv("TRIMTAB", "on", 1);
    // What a kernel of another compiler's program is, must be known at its first launch.
    setenv("TRIMTAB_MODULES", "wait", 0);
    std::optional<Error> failure;
    for (const std::vector<std::string>& command : *commands) {
        if (interruptions > 0) break;
        const auto number = static_cast<std::size_t>(&command - commands->data());
        auto run = run_tried(command, options, folder->file(fmt::format("suggest-{}.jsonl", number)),
                             workers->get());
        if (!run) return fail(run.error());
        for (std::size_t share = 0; share < run->lines.size(); ++share)
            run->lines[share] = with_process(run->lines[share], number, share);
        found += in_order(run->lines);
        if (!run->outcome.is_success() && interruptions == 0 && !failure)
            failure = Error{.message = "the program " + run->outcome.text(), .file = command.front()};
    }
    std::fflush(stdout);
    if (interruptions > 0) say("interrupted; results so far:");
    const int result = tell(options, read_suggestions(found));
    return failure ? fail(*failure) : result;
}

}  // namespace

void add_suggest(CLI::App& app, Action& action) {
    auto options = std::make_shared<SuggestOptions>();
    CLI::App* command =
        app.add_subcommand("suggest", "Look for annotations of kernels that keep their blocks")
            ->group(groups::choose);
    command->footer(
        "Emulates the program, and repeats launches with other blocks, grids and shared\n"
        "memory. Launches that leave the same memory become annotations.\n"
        "Example: trimtab suggest -o annotations.json -- ./program arguments");
    options->device_option =
        command->add_option("--device", options->device, "Emulate this GPU: slug, name, or JSON file")
            ->capture_default_str();
    command->add_option("-o,--output", options->output,
                        "Write annotations for --trimtab-annotations or TRIMTAB_ANNOTATIONS");
    command
        ->add_option("--again", options->again,
                     "Run once more with these arguments, in quotes; may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        ->add_option("--seconds", options->seconds, "Try launches for so many seconds per run; 0: no limit")
        ->capture_default_str();
    command
        ->add_option("--launches", options->launches,
                     "Try so many equal launches (then the 8th, 16th ...); 0: all")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Random seed for the orders of warps and blocks")
        ->capture_default_str();
    command->add_flag("--reassociate", options->reassociate,
                      "Also accept results that differ by the rounding of reordered sums");
    command->add_flag("--quiet", options->quiet, "Print no progress");
    command->add_flag("--json", options->json, "Print JSON; the program's own output goes to stderr");
    command->add_option("PROGRAM", options->program, "The program to run and its arguments, after --")
        ->expected(-1);
    add_capture_option(*command, options->capture);
    add_worker_options(*command, options->workers);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return suggest(*options); }; });
}

}  // namespace trimtab::tools
