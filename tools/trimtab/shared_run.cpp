// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/shared_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <utility>

#include "core/base/read_text.h"
#include "pipeline/workers/pool.h"
#include "pipeline/workers/program_task.h"
#include "tools/trimtab/command.h"

namespace trimtab::tools {

namespace {

using workers::ProgramResult;
using workers::ProgramRun;

// What this process has set or was given for Trimtab; of the store, nothing, for its address may hold a password.
std::vector<std::pair<std::string, std::string>> own_variables() {
    std::vector<std::pair<std::string, std::string>> out;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('='));
        if (name.size() == text.size() || name.starts_with("TRIMTAB_STORE")) continue;
        if (name == "TRIMTAB" || name.starts_with("TRIMTAB_") || name == "LD_PRELOAD")
            out.emplace_back(name, text.substr(name.size() + 1));
    }
    return out;
}

bool is_over(const SharedRun& shared) {
    return shared.is_over && shared.is_over();
}

}  // namespace

std::expected<SharedLines, Error> run_shared(const SharedRun& shared, workers::WorkerPool* pool) {
    const std::size_t others = pool == nullptr ? 0 : pool->size(), shares = others + 1;
    std::error_code none;
    std::string earlier = base::read_text(shared.file).value_or("");
    earlier.resize(earlier.rfind('\n') + 1);  // a line that was cut is taken away
    const ProgramRun run{.words = shared.command,
                         .folder = std::filesystem::current_path(none).string(),
                         .environment = own_variables(),
                         .variable = shared.variable,
                         .plan = nlohmann::ordered_json::parse(shared.plan),
                         .earlier = std::move(earlier)};
    auto process = base::Process::start({.words = shared.command,
                                         .environment = {workers::plan_variable(run, shared.file, 0, shares)},
                                         .writes_on_stderr = shared.output_on_stderr});
    if (!process) return std::unexpected(process.error());
    if (shared.running) shared.running(process->id());
    std::vector<std::optional<ProgramResult>> results(others);
    if (others > 0)
        for (const auto& left : pool->run(
                 others, [&](std::size_t i) { return workers::program_task(run, i + 1, shares); },
                 [&](std::size_t i, const nlohmann::json& answer) -> std::expected<void, Error> {
                     auto result = workers::read_program_result(answer);
                     if (!result) return std::unexpected(result.error());
                     results[i] = std::move(*result);
                     return {};
                 }))
            if (!is_over(shared))
                say(fmt::format("warning: share {} of {} is done here: {}", left.task + 2, shares, left.why));
    SharedLines out{.outcome = process->wait(), .lines = {}};
    if (shared.running) shared.running(0);
    if (out.outcome.signal != 0) say(shared.command.front() + ": " + out.outcome.text());
    const std::string own_lines = base::read_text(shared.file).value_or("");
    out.lines.push_back(own_lines.substr(std::min(own_lines.size(), run.earlier.size())));
    for (std::size_t i = 0; i < others; ++i) {
        auto& result = results[i];
        if (result && result->outcome.exit_code != out.outcome.exit_code && !is_over(shared)) {
            say(fmt::format("warning: share {} of {} is done here: on a worker, the program {}", i + 2,
                            shares, result->outcome.text()));
            result.reset();
        }
        if (!result && !is_over(shared)) {
            auto own = workers::run_share(run, i + 1, shares);
            if (!own) return std::unexpected(own.error());
            result = std::move(*own);
        }
        out.lines.push_back(result ? std::move(result->lines) : std::string());
    }
    return out;
}

std::string in_order(const std::vector<std::string>& shares) {
    std::multimap<std::uint64_t, std::string_view> lines;  // those of one number stay in their order
    for (const std::string& share : shares)
        for (const auto part :
             std::views::split(std::string_view(share).substr(0, share.rfind('\n') + 1), '\n')) {
            const std::string_view text(part.begin(), part.end());
            if (text.empty()) continue;
            const auto line = nlohmann::json::parse(text, nullptr, false);
            const auto number = line.is_object() ? line.find("number") : line.end();
            const bool has_number = line.is_object() && number != line.end() && number->is_number_unsigned();
            lines.emplace(
                has_number ? number->get<std::uint64_t>() : std::numeric_limits<std::uint64_t>::max(), text);
        }
    std::string out;
    for (const auto& [number, text] : lines) out.append(text) += '\n';
    return out;
}

}  // namespace trimtab::tools
