// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/workers/program_task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "pipeline/workers/pool.h"

namespace trimtab::workers {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string text_of(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

std::pair<std::string, std::string> plan_variable(const ProgramRun& run, const std::string& file,
                                                  std::size_t share, std::size_t shares) {
    ordered_json plan = run.plan;
    plan["file"] = file;
    plan["share"] = share;
    plan["shares"] = shares;
    return {run.variable, text_of(plan)};
}

std::expected<ProgramResult, Error> run_share(const ProgramRun& run, std::size_t share, std::size_t shares,
                                              std::atomic<pid_t>* running) {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string file = folder->file("lines.jsonl");
    if (!run.earlier.empty() && !(std::ofstream(file, std::ios::binary) << run.earlier).flush())
        return std::unexpected(Error{.message = "cannot be written", .file = file});
    base::Command command{.words = run.words,
                          .environment = run.environment,
                          .messages_file = "/dev/null",
                          .writes_on_stderr = true};
    command.environment.push_back(plan_variable(run, file, share, shares));
    auto process = base::Process::start(command);
    if (!process) return std::unexpected(process.error());
    if (running != nullptr) *running = process->id();
    ProgramResult result{.outcome = process->wait(), .lines = {}};
    if (running != nullptr) *running = 0;
    result.lines = base::read_text(file).value_or("");
    if (!result.lines.starts_with(run.earlier))
        return std::unexpected(
            Error{.message = "the program overwrote the file of its results", .file = file});
    result.lines.erase(0, run.earlier.size());
    return result;
}

Task program_task(const ProgramRun& run, std::size_t share, std::size_t shares) {
    json variables = json::array();
    for (const auto& [name, value] : run.environment) variables.push_back({name, value});
    return {.head = {{"do", ProgramHand::task_name},
                     {"words", run.words},
                     {"folder", run.folder},
                     {"environment", variables},
                     {"variable", run.variable},
                     {"plan", text_of(run.plan)},  // whose members have an order
                     {"earlier", run.earlier},
                     {"share", share},
                     {"shares", shares}},
            .shared = nullptr};
}

std::expected<ProgramResult, Error> read_program_result(const json& answer) {
    if (const auto failure = answer.find("failure"); failure != answer.end())
        return std::unexpected(Error{failure->get<std::string>()});
    ProgramResult result{
        .outcome = {.exit_code = answer.at("exit_code").get<int>(), .signal = answer.at("signal").get<int>()},
        .lines = answer.at("lines").get<std::string>()};
    return result;
}

std::expected<json, Error> ProgramHand::work(const json& head) {
    ProgramRun run{.words = head.at("words").get<std::vector<std::string>>(),
                   .folder = head.at("folder").get<std::string>(),
                   .environment = {},
                   .variable = head.at("variable").get<std::string>(),
                   .plan = ordered_json::parse(head.at("plan").get<std::string>()),
                   .earlier = head.at("earlier").get<std::string>()};
    for (const json& variable : head.at("environment"))
        run.environment.emplace_back(variable.at(0).get<std::string>(), variable.at(1).get<std::string>());
    if (run.words.empty() || !run.plan.is_object()) return std::unexpected(Error{"a program without a plan"});
    if (chdir(run.folder.c_str()) != 0)
        return json{{"failure", fmt::format("{}: {}", run.folder, std::strerror(errno))}};
    const auto result =
        run_share(run, head.at("share").get<std::size_t>(), head.at("shares").get<std::size_t>(), &running_);
    if (!result) return json{{"failure", result.error().text()}};
    return json{{"exit_code", result->outcome.exit_code},
                {"signal", result->outcome.signal},
                {"lines", result->lines}};
}

void ProgramHand::end() {
    if (const pid_t process = running_; process > 0) kill(process, SIGKILL);
}

}  // namespace trimtab::workers
