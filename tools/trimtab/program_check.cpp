// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/program_check.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "core/model/device.h"
#include "emulation/emulator/check/checks.h"
#include "emulation/emulator/check/report.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/user_program.h"

namespace trimtab::tools {
namespace {

using emulator::check::HostFrame;
using emulator::check::HostStack;
using emulator::check::Report;

// Names of functions and source lines, where the machine has a program that reads them.
class Symbolizer {
  public:
    Symbolizer() {
        for (const char* name : {"llvm-symbolizer-22", "llvm-symbolizer"}) {
            if (const auto found = base::find_program(name)) {
                command_ = {*found, "--output-style=GNU", "-f", "-s", "-p", "-i", "-e"};
                return;
            }
        }
        if (const auto found = base::find_program("addr2line"))
            command_ = {*found, "-f", "-C", "-s", "-p", "-i", "-e"};
    }
    // "main at a.cu:12".
    [[nodiscard]] std::string text_of(const HostFrame& frame) {
        if (command_.empty()) return {};
        const auto [at, is_new] = known_.try_emplace({frame.module, frame.offset});
        if (!is_new) return at->second;
        std::vector<std::string> command = command_;
        command.push_back(frame.module);
        command.push_back(fmt::format("0x{:x}", frame.offset));
        const auto outcome = base::run({.words = command}, base::Capture::output);
        std::string text = outcome ? outcome->captured : "";
        // Calls that were inlined are lines of their own.
        while (text.ends_with('\n')) text.pop_back();
        for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, ",");
        if (!text.contains("??:0") && !text.contains("??:?")) at->second = std::move(text);
        return at->second;
    }

  private:
    std::vector<std::string> command_;
    std::map<std::pair<std::string, std::uint64_t>, std::string> known_;
};

void name_frames(HostStack& stack, Symbolizer& symbolizer) {
    for (HostFrame& frame : stack) frame.place = symbolizer.text_of(frame);
}

bool asks_for_gpu() {
    const char* device = std::getenv("TRIMTAB_DEVICE");
    return device != nullptr && std::string_view(device).contains("gpu");
}

}  // namespace

int run_checked(const std::vector<std::string>& command, const CheckOptions& options) {
    const auto checks = emulator::check::parse_checks(options.checks);
    if (!checks) return fail(ExitCode::usage, "--check: " + checks.error().text());
    if (asks_for_gpu()) return fail(ExitCode::usage, "--check runs on the emulator, not on a GPU");
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return fail(folder.error());
    const std::string file = folder->file("reports.json");
    setenv("TRIMTAB_CHECK", emulator::check::text_of(*checks).c_str(), 1);
    setenv("TRIMTAB_CHECK_REPORT", file.c_str(), 1);
    // Where a GPU is present, a device must be named for the emulator to play; kernels are watched as the
    // program launches them.
    setenv("TRIMTAB_DEVICE", std::string(model::default_device).c_str(), 0);
    setenv("TRIMTAB", "off", 0);
    const bool prints_json = options.json && options.report.empty();
    const auto outcome = run_user_program(command, prints_json);
    if (!outcome) return fail(outcome.error());
    const std::string text = base::read_text(file).value_or("");
    auto reports = text.empty() ? std::vector<Report>{} : emulator::check::reports_of_json(text, file);
    if (!reports) return fail(reports.error());
    if (text.empty()) {
        const std::string why =
            outcome->is_success() ? "did not use the emulated CUDA runtime" : outcome->text();
        return fail(ExitCode::bad_input, fmt::format("{} {}: nothing was checked", command.front(), why));
    }
    Symbolizer symbolizer;
    for (Report& report : *reports) {
        name_frames(report.allocated, symbolizer);
        name_frames(report.freed, symbolizer);
    }
    const std::string json = emulator::check::to_json(emulator::check::text_of(*checks), *reports);
    if (!options.report.empty())
        if (const auto written = write_report(options.report, json); !written) return fail(written.error());
    if (prints_json) {
        fmt::print("{}", json);
    } else {
        for (const Report& report : *reports) fmt::print(stderr, "{}", emulator::check::text_of(report));
        fmt::print(stderr, "trimtab: {} found by --check={}\n",
                   reports->empty()       ? std::string("no defect")
                   : reports->size() == 1 ? std::string("1 defect")
                                          : fmt::format("{} defects", reports->size()),
                   emulator::check::text_of(*checks));
    }
    return reports->empty() ? outcome->exit_code : code(ExitCode::no);
}

}  // namespace trimtab::tools
