// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `trimtab documentation DIR`, which builds call: man pages and completions from the options as CLI11 has
// them.
#pragma once

#include <expected>
#include <string>

#include "trimtab/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace trimtab::tools {

// "trimtab verify [OPTION]... -- PROGRAM [ARGUMENT]..."
[[nodiscard]] std::string synopsis(const CLI::App& command);

// Below `folder`: man1/trimtab.1 and one page a subcommand, bash/trimtab, zsh/_trimtab.
[[nodiscard]] std::expected<void, Error> write_documentation(const CLI::App& app, const std::string& folder);

}  // namespace trimtab::tools
