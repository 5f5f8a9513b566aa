// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/captured_kernels.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/base/process.h"
#include "core/base/read_text.h"
#include "tools/trimtab/program_setup.h"

namespace trimtab::tools {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

std::expected<void, Error> run(const std::vector<std::string>& program, Variables variables,
                               const std::string& messages) {
    const auto outcome =
        base::run({.words = program, .environment = std::move(variables), .messages_file = messages},
                  base::Capture::output);
    if (!outcome) return std::unexpected(outcome.error());
    if (!outcome->is_success())
        return std::unexpected(Error{.message = outcome->text(), .file = program.front()});
    return {};
}

// The kernels that a run's report names.
std::set<std::string> kernels_in(const std::string& report) {
    std::set<std::string> kernels;
    std::istringstream lines(base::read_text(report).value_or(""));
    for (std::string line; std::getline(lines, line);) {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (json.is_object() && json.contains("kernel") && json["kernel"].is_string())
            kernels.insert(json["kernel"].get<std::string>());
    }
    return kernels;
}

}  // namespace

std::expected<std::vector<std::string>, Error> capture_kernels(const std::vector<std::string>& program,
                                                               const std::string& kernel,
                                                               const std::string& device,
                                                               const base::TemporaryFolder& folder) {
    if (const auto error = preload_runtime(program.front())) return std::unexpected(*error);
    const std::string messages = folder.file("messages");
    std::set<std::string> kernels;
    if (!kernel.empty()) {
        kernels.insert(kernel);
    } else {
        const std::string report = folder.file("report");
        const auto ran =
            run(program, {{"TRIMTAB", "observe"}, {"TRIMTAB_DEVICE", device}, {"TRIMTAB_REPORT", report}},
                messages);
        if (!ran) return std::unexpected(ran.error());
        kernels = kernels_in(report);
        if (kernels.empty())
            return std::unexpected(
                Error{.message = "launches no kernel that Trimtab sees", .file = program.front()});
    }
    std::vector<std::string> files;
    for (const std::string& one : kernels) {
        const std::string file = folder.file(fmt::format("{}.capture", files.size()));
        const auto ran = run(program,
                             {{"TRIMTAB", "off"},
                              {"TRIMTAB_DEVICE", device},
                              {"TRIMTAB_CAPTURE", one},
                              {"TRIMTAB_CAPTURE_FILE", file}},
                             messages);
        if (!ran) return std::unexpected(ran.error());
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored)) {
            files.push_back(file);
            continue;
        }
        // The program's last words on it say why.
        std::string why = "is not captured";
        std::istringstream lines(base::read_text(messages).value_or(""));
        for (std::string line; std::getline(lines, line);)
            if (line.contains("TRIMTAB_CAPTURE")) why = line;
        return std::unexpected(Error{.message = fmt::format("{}: {}", one, why), .file = program.front()});
    }
    return files;
}

}  // namespace trimtab::tools
