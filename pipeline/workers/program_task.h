// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The task of a program: it is run with a plan in its environment, and Trimtab's runtime in it writes lines of JSON.
// Several shares of one plan, each run by another worker, find out together what one process would alone: each runs
// the whole program, and does every so many-th of what the plan asks for.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/process.h"
#include "trimtab/error.h"

namespace trimtab::workers {

struct Task;  // pool.h

struct ProgramRun {
    std::vector<std::string> words;  // the program's path first
    std::string folder;              // that it runs in
    // Beside that of whoever runs it.
    std::vector<std::pair<std::string, std::string>> environment;
    // The variable that the plan is in: an object, to which "file", "share" and "shares" are added.
    std::string variable;
    nlohmann::ordered_json plan;
    std::string earlier;  // what the file holds before
};

struct ProgramResult {
    base::Outcome outcome;
    std::string lines;  // that it added to the file
};

// The plan's variable, for the share that writes to this file.
[[nodiscard]] std::pair<std::string, std::string> plan_variable(const ProgramRun& run,
                                                                const std::string& file, std::size_t share,
                                                                std::size_t shares);
// Without streams of this process's.  `running` is its process meanwhile. The error: it could not be run.
[[nodiscard]] std::expected<ProgramResult, Error> run_share(const ProgramRun& run, std::size_t share,
                                                            std::size_t shares,
                                                            std::atomic<pid_t>* running = nullptr);

[[nodiscard]] Task program_task(const ProgramRun& run, std::size_t share, std::size_t shares);
[[nodiscard]] std::expected<ProgramResult, Error> read_program_result(const nlohmann::json& answer);

// --- the worker's ---

class ProgramHand {
  public:
    static constexpr const char* task_name = "program";
    // The answer without the task's number. The error: the task cannot be read.
    [[nodiscard]] std::expected<nlohmann::json, Error> work(const nlohmann::json& head);
    // From any thread: what runs ends with the worker.
    void end();

  private:
    std::atomic<pid_t> running_ = 0;
};

}  // namespace trimtab::workers
