// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/user_program.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/kept_file.h"
#include "tools/trimtab/command.h"

namespace trimtab::tools {

std::expected<base::Outcome, Error> run_user_program(const std::vector<std::string>& command,
                                                     bool output_on_stderr,
                                                     const std::string& messages_file) {
    auto outcome =
        base::run({.words = command, .messages_file = messages_file, .writes_on_stderr = output_on_stderr});
    if (outcome && outcome->signal != 0) say(command.front() + ": " + outcome->text());
    return outcome;
}

std::optional<Error> cannot_write(const std::string& report) {
    if (base::Descriptor(open(report.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)).is_open())
        return std::nullopt;
    return Error{.message = fmt::format("the report cannot be written: {}", std::strerror(errno)),
                 .file = report};
}

std::expected<void, Error> write_report(const std::string& report, const std::string& text) {
    std::ofstream file(report, std::ios::binary);
    if (file << text && file.flush()) return {};
    return std::unexpected(Error{
        .message = fmt::format("the report cannot be written: {}", std::strerror(errno)), .file = report});
}

}  // namespace trimtab::tools
