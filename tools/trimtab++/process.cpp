// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/process.h"

#include <fmt/core.h>

#include "core/base/process.h"

namespace trimtab::wrapper {
namespace {

int fail(const std::string& message) {
    fmt::print(stderr, "trimtab++: error: {}\n", message);
    return 1;
}

int execute(const base::Command& command) {
    const auto outcome = base::run(command);
    if (!outcome) return fail(outcome.error().text());
    if (outcome->signal != 0) return fail(command.words.front() + " " + outcome->text());
    return outcome->exit_code;
}

}  // namespace

int run(const std::vector<std::string>& command, const Environment& environment) {
    return execute({.words = command, .environment = environment});
}

int run_with_messages_in(const std::string& messages, const std::vector<std::string>& command,
                         const Environment& environment) {
    return execute({.words = command, .environment = environment, .messages_file = messages});
}

int become(const std::string& program, const std::vector<std::string>& arguments) {
    base::Command command{.words = arguments};
    command.words.front() = program;
    return fail(base::become(command).text());
}

}  // namespace trimtab::wrapper
