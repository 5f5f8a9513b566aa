// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trimtab's own options of trimtab++, and what it says of itself.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "tools/trimtab++/command_line.h"
#include "trimtab/error.h"

namespace trimtab::wrapper {

[[nodiscard]] bool is_own_option(std::string_view token);

// One word of the command line, which is_own_option() knows.
[[nodiscard]] std::expected<void, Error> read_own_option(CommandLine& line, std::string_view option);

// Before clang's answers to --version and --help.
[[nodiscard]] std::string version_text();
[[nodiscard]] std::string help_text();

// The man page and the shells' completions, below `folder` (man1/, bash/, zsh/).
[[nodiscard]] std::expected<void, Error> write_documentation(const std::string& folder);

}  // namespace trimtab::wrapper
