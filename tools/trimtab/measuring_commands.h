// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands that measure: programs' launches, and devices.
#pragma once

#include "tools/trimtab/command.h"

namespace trimtab::tools {

// As those of command.h.
void add_bench(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);

}  // namespace trimtab::tools
