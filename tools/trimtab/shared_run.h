// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that is run on the emulator with a plan (TRIMTAB_VERIFY and the like): here, and where there are workers,
// a share of the plan here and one on each of them. What comes of it is what one process would have found.
#pragma once

#include <sys/types.h>

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "core/base/process.h"
#include "trimtab/error.h"

namespace trimtab::workers {
class WorkerPool;
}

namespace trimtab::tools {

struct SharedRun {
    std::vector<std::string> command;  // the program's path first
    std::string variable;              // that the plan is in
    std::string plan;                  // a JSON object
    // The share of this process writes its lines there; what the file holds before belongs to the plan.
    std::string file;
    bool output_on_stderr = false;
    // May be empty: the process that runs here, 0 when it has ended; whether it was interrupted.
    std::function<void(pid_t process)> running = {};
    std::function<bool()> is_over = {};
};

struct SharedLines {
    base::Outcome outcome;           // of the program here
    std::vector<std::string> lines;  // of each share, this process's first
};

// The program has this process's streams; on workers it has none, and runs in the folder of the same name.
[[nodiscard]] std::expected<SharedLines, Error> run_shared(const SharedRun& shared,
                                                           workers::WorkerPool* pool);

// In the order in which one process writes them: each line says its "number". One that has no end, for its process was
// killed, is left out.
[[nodiscard]] std::string in_order(const std::vector<std::string>& shares);

}  // namespace trimtab::tools
