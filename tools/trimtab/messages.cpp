// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <cstdio>

#include "core/base/terminal.h"
#include "tools/trimtab/command.h"

namespace trimtab::tools {

void say(std::string_view message) {
    fmt::print(stderr, "{} {}\n", base::in_colour(stderr, base::Colour::red, "trimtab:"), message);
}
int fail(ExitCode exit_code, std::string_view message) {
    say(message);
    return code(exit_code);
}
int fail(const Error& error) {
    return fail(ExitCode::bad_input, error.text());
}

}  // namespace trimtab::tools
