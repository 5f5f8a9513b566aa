// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/worker_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

#include "pipeline/workers/pool.h"

namespace trimtab::tools {

void add_worker_options(CLI::App& command, WorkerOptions& options) {
    command
        .add_option("--workers", options.workers,
                    "Add workers: N here, COMMAND (\"ssh n7 trimtab worker\"), or 64*COMMAND")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);  // what follows its value is a file
    command
        .add_option("--worker-silence", options.silence_s,
                    "Give up a worker after so many seconds of silence")
        ->check(CLI::Range(1U, 86'400U))
        ->capture_default_str();
}

std::expected<std::unique_ptr<workers::WorkerPool>, Error> make_pool(const WorkerOptions& options,
                                                                     std::function<bool()> is_over) {
    if (options.workers.empty()) return nullptr;
    workers::PoolOptions pool;
    pool.is_over = std::move(is_over);
    pool.silence = std::chrono::seconds(options.silence_s);
    for (const std::string& text : options.workers) {
        auto commands = workers::read_workers(text);
        if (!commands)
            return std::unexpected(Error{fmt::format("--workers={}: {}", text, commands.error().text())});
        std::ranges::move(*commands, std::back_inserter(pool.commands));
    }
    return std::make_unique<workers::WorkerPool>(
        std::move(pool), [](const std::string& text) { fmt::print(stderr, "trimtab: warning: {}\n", text); });
}

}  // namespace trimtab::tools
