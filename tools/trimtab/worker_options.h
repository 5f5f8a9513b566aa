// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --workers and what belongs to it, for the subcommands whose work is long.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace trimtab::workers {
class WorkerPool;
}

namespace trimtab::tools {

struct WorkerOptions {
    std::vector<std::string> workers;  // as they stand on the command line
    unsigned silence_s = 60;
};

void add_worker_options(CLI::App& command, WorkerOptions& options);
// Null where none is asked for. `is_over`: asked now and then whether no more is wanted. The error: an option is not as it is wanted.
[[nodiscard]] std::expected<std::unique_ptr<workers::WorkerPool>, Error> make_pool(
    const WorkerOptions& options, std::function<bool()> is_over = {});

}  // namespace trimtab::tools
