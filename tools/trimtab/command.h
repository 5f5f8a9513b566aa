// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the subcommands of `trimtab` share: exit codes, one-line errors, and how each one registers itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "trimtab/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace trimtab::tools {

enum class ExitCode : int { ok = 0, no = 1, usage = 2, bad_input = 3 };

// Runs a subcommand whose options have been read; the process ends with its code.
using Action = std::function<int()>;

// Each adds its subcommand to `app`, and sets `action` when that subcommand is the one asked for.
void add_advise(CLI::App& app, Action& action);
void add_cl(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_search(CLI::App& app, Action& action);
void add_select(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_emulate(CLI::App& app, Action& action);
void add_prepare(CLI::App& app, Action& action);
void add_prune(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_suggest(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_worker(CLI::App& app, Action& action);

// "trimtab: <message>" on stderr.
void say(std::string_view message);
int fail(ExitCode code, std::string_view message);
int fail(const Error& error);  // ExitCode::bad_input
[[nodiscard]] inline int code(ExitCode exit_code) {
    return static_cast<int>(exit_code);
}

}  // namespace trimtab::tools
