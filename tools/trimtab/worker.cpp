// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab worker: does tasks of another trimtab, which it reads and answers in messages.
#include "pipeline/workers/worker.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"

namespace trimtab::tools {

void add_worker(CLI::App& app, Action& action) {
    auto options = std::make_shared<workers::WorkerOptions>();
    CLI::App* command =
        app.add_subcommand("worker", "Work for another trimtab, which starts this")->group(groups::set_up);
    command->footer("trimtab or trimtab++ talks to it on stdin and stdout.");
    command->add_option("--threads", options->threads, "Use so many threads per task; 0: all")
        ->capture_default_str();
    command->callback([options, &action] {
        action = [options] {
            if (isatty(STDIN_FILENO) != 0)
                return fail(ExitCode::usage,
                            "a worker is talked to by another program: trimtab prepare --workers='ssh node7 "
                            "trimtab worker' FILE");
            return workers::serve(*options);
        };
    });
}

}  // namespace trimtab::tools
