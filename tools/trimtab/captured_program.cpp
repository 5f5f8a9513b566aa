// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/captured_program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <utility>

#include "core/base/installation.h"
#include "emulation/emulator/capture/capture.h"
#include "tools/trimtab/command.h"

namespace trimtab::tools {

namespace {

// The program that makes the captured launch, with its arguments.
std::expected<std::vector<std::string>, Error> captured_program(const std::string& file,
                                                                const std::string& device) {
    const auto read = emulator::capture::read(file);
    if (!read) return std::unexpected(read.error());
    const char* const given = std::getenv("TRIMTAB_DEVICE");
    const std::string asked = !device.empty() ? device : given != nullptr ? given : "";
    if (asked == "gpu")
        return std::unexpected(Error{
            .message = "a captured launch is made again on the emulator alone, not on a GPU", .file = file});
    if (asked.empty()) setenv("TRIMTAB_DEVICE", read->capture.device.c_str(), 1);
    const auto program = std::filesystem::path(base::own_prefix()) / "libexec" / "trimtab-replay";
    std::error_code ignored;
    if (!std::filesystem::exists(program, ignored))
        return std::unexpected(Error{.message = "it is not installed with trimtab, and --capture needs it",
                                     .file = program.string()});
    return std::vector<std::string>{program.string(), file};
}

}  // namespace

CLI::Option* add_capture_option(CLI::App& command, std::string& capture) {
    return command.add_option("--capture", capture,
                              "Instead of a program, use the launch that TRIMTAB_CAPTURE wrote");
}

std::optional<int> take_capture(std::string_view subcommand, std::string_view what,
                                const std::string& capture, bool is_device_given, std::string& device,
                                std::vector<std::string>& program) {
    if (program.empty() == capture.empty())
        return fail(ExitCode::usage,
                    fmt::format("it takes {} or --capture FILE (see trimtab {} --help)", what, subcommand));
    if (capture.empty()) return std::nullopt;
    auto words = captured_program(capture, is_device_given ? device : std::string());
    if (!words) return fail(words.error());
    program = std::move(*words);
    // The one launch is of a module that is loaded at run time: it cannot wait for the next.
    setenv("TRIMTAB_MODULES", "wait", 0);
    if (!is_device_given) device = std::getenv("TRIMTAB_DEVICE");
    return std::nullopt;
}

}  // namespace trimtab::tools
