// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --help prints: `trimtab --help` fits a screen of 24 lines, and every line 80 columns.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace trimtab::tools {

// After all subcommands and their options have been added.
void set_help(CLI::App& app);

}  // namespace trimtab::tools
