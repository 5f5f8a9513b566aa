// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab verify: does any block that a launch may get change what it computes?
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

#include "core/analysis/launches/description.h"
#include "core/base/installation.h"
#include "core/base/temporary_folder.h"
#include "pipeline/workers/pool.h"
#include "tools/trimtab/arguments.h"
#include "tools/trimtab/captured_program.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"
#include "tools/trimtab/kernel_file.h"
#include "tools/trimtab/program_setup.h"
#include "tools/trimtab/shared_run.h"
#include "tools/trimtab/user_program.h"
#include "tools/trimtab/verification_report.h"
#include "tools/trimtab/worker_options.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct VerifyOptions {
    std::string capture, device = "rtx2070super", blocks = "8", launches = "4", output = ".", report;
    std::uint64_t seed = 1;
    bool json = false;
    const CLI::Option* device_option = nullptr;
    WorkerOptions workers;
    std::vector<std::string> program;
};

std::string bug_report(const VerifiedKernel& kernel, const VerifyOptions& options) {
    std::string out = fmt::format(
        "trimtab verify: a block that Trimtab proved legal changes the kernel's results\n\nkernel   {}\nname "
        "    {}\nin       {}\ncommand  {}\noptions  --device {} --blocks {} --launches {} --seed {}\n",
        kernel.demangled, kernel.name, kernel.object, fmt::join(options.program, " "), options.device,
        options.blocks, options.launches, options.seed);
    if (kernel.differences.front().as_written)
        out +=
            "\nThe launch as written gives other results in another order of warps and blocks: the program "
            "has a race,\nor the emulator an error. The proof assumed that there is none.\n";
    constexpr std::size_t most = 20;
    for (std::size_t i = 0; i < std::min(kernel.differences.size(), most); ++i)
        out += fmt::format("\n{}\n{}\n", kernel.differences[i].text,
                           Json::parse(kernel.differences[i].line).dump(1));
    if (kernel.differences.size() > most)
        out += fmt::format("\n... and {} launches more\n", kernel.differences.size() - most);
    const auto file = load_kernels(kernel.object);
    if (!file) return out + "\nno more is known: " + file.error().text() + "\n";
    const auto found = find_kernel(*file, kernel.name);
    if (!found) return out + "\nno more is known: " + found.error().text() + "\n";
    const FileKernel& known = file->kernels[*found];
    out += "\ndescription\n" + analysis::to_json(known.record.description).dump(1) + "\n";
    if (known.ptx != nullptr) out += "\nPTX of its module\n" + *known.ptx + "\n";
    return out;
}

// A name that is free, for a report must not take another's place.
std::string report_path(const VerifyOptions& options, const VerifiedKernel& kernel) {
    const std::string base = base_name(kernel.demangled);
    for (unsigned number = 1;; ++number) {
        const fs::path path = fs::path(options.output) / fmt::format("trimtab-bug-{}-{}.txt", base, number);
        std::error_code ignored;
        if (!fs::exists(path, ignored)) return path.string();
    }
}

int tell(const VerifyOptions& options, const VerificationReport& report) {
    std::vector<std::string> files;
    for (const VerifiedKernel& kernel : report.kernels) {
        if (kernel.differences.empty()) continue;
        const std::string path = report_path(options, kernel);
        std::ofstream file(path, std::ios::binary);
        if (!(file << bug_report(kernel, options)) || !file.flush())
            return fail(Error{.message = "the bug report cannot be written", .file = path});
        files.push_back(path);
    }
    Json json = to_json(report);
    json["bug_reports"] = files;
    if (!options.report.empty())
        if (const auto written = write_report(options.report, json.dump(2) + "\n"); !written)
            return fail(written.error());
    if (options.json && options.report.empty()) {
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{}", to_text(report));
        for (const std::string& path : files) fmt::print("bug report: {}\n", path);
    }
    return code(report.difference_count() == 0 ? ExitCode::ok : ExitCode::no);
}

int verify(VerifyOptions options) {
    if (const auto ended = take_capture("verify", "a program, after --,", options.capture,
                                        options.device_option->count() > 0, options.device, options.program))
        return *ended;
    const auto program = base::find_program(options.program.front());
    if (!program) return fail(Error{.message = "no such program", .file = options.program.front()});
    const auto blocks = parse_count(options.blocks), launches = parse_count(options.launches);
    if (!blocks) return fail(ExitCode::usage, "--blocks wants a number above 0, or all");
    if (!launches) return fail(ExitCode::usage, "--launches wants a number above 0, or all");
    const auto device = checked_device(options.device);
    if (!device) return fail(device.error());
    if (device->contains("gpu")) return fail(ExitCode::usage, "verify runs on the emulator: name a device");
    const auto workers = make_pool(options.workers);
    if (!workers) return fail(ExitCode::usage, workers.error().text());
    if (const auto error = preload_runtime(*program)) return fail(*error);
    if (!options.report.empty())
        if (const auto error = cannot_write(options.report)) return fail(*error);
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    setenv("TRIMTAB_DEVICE", device->c_str(), 1);
    setenv("TRIMTAB", "on", 1);
    // What an access past an array meets is the program's own fault, and not the same twice.
    setenv("TRIMTAB_OUT_OF_BOUNDS", "error", 1);
    // What an annotation beside the source makes of a kernel must be known at its first launch.
    if (getenv("TRIMTAB_ANNOTATIONS") != nullptr) setenv("TRIMTAB_MODULES", "wait", 0);
    std::vector<std::string> command = options.program;
    command.front() = *program;
    const auto run = run_shared(
        {.command = std::move(command),
         .variable = "TRIMTAB_VERIFY",
         .plan = Json({{"blocks", *blocks}, {"launches", *launches}, {"seed", options.seed}}).dump(),
         .file = folder->file("verify.jsonl"),
         .output_on_stderr = options.json && options.report.empty()},
        workers->get());
    if (!run) return fail(run.error());
    std::fflush(stdout);
    const int result = tell(options, read_verification(in_order(run->lines)));
    if (result != code(ExitCode::ok) || run->outcome.is_success()) return result;
    return fail(Error{.message = "the program " + run->outcome.text(), .file = *program});
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
    auto options = std::make_shared<VerifyOptions>();
    CLI::App* command = app.add_subcommand("verify", "Check that no other block changes a program's results")
                            ->group(groups::make_safe);
    command->footer(
        "Emulates the program, repeats launches with other legal blocks in random\n"
        "orders, and compares memory.\n"
        "Example: trimtab verify -- ./program arguments");
    options->device_option =
        command->add_option("--device", options->device, "Emulate this GPU: slug, name, or JSON file")
            ->capture_default_str();
    command->add_option("--blocks", options->blocks, "Try so many other blocks per launch, or all")
        ->capture_default_str();
    command
        ->add_option("--launches", options->launches,
                     "Check so many equal launches (then the 8th, 16th ...), or all")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Random seed for blocks and orders")->capture_default_str();
    command->add_option("-o,--output", options->output, "Write bug reports to this folder")
        ->check(CLI::ExistingDirectory)
        ->capture_default_str();
    command->add_option("--report", options->report, "Write the result as JSON to this file");
    command->add_flag("--json", options->json, "Print JSON; the program's own output goes to stderr");
    command->add_option("PROGRAM", options->program, "The program to run and its arguments, after --")
        ->expected(-1);
    add_capture_option(*command, options->capture);
    add_worker_options(*command, options->workers);
    command->positionals_at_end();
    command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

}  // namespace trimtab::tools
