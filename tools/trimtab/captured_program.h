// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --capture FILE in the place of a program: docs/captures.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
}  // namespace CLI

namespace trimtab::tools {

CLI::Option* add_capture_option(CLI::App& command, std::string& capture);

// A subcommand takes a program, or --capture FILE: then `program` becomes the one that makes the captured launch, and
// `device`, where it is not given, the one that TRIMTAB_DEVICE names, else the capture's (TRIMTAB_DEVICE is set to it).
// `what`: "a program, after --,". Nothing: it may go on; else the exit code, of what has been said: neither or both are
// given, the file is no capture, or the device is a GPU, whose memory cannot be put where the launch had it.
[[nodiscard]] std::optional<int> take_capture(std::string_view subcommand, std::string_view what,
                                              const std::string& capture, bool is_device_given,
                                              std::string& device, std::vector<std::string>& program);

}  // namespace trimtab::tools
