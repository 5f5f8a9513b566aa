// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What-if options of the subcommands that emulate abstractly: --set, --l1-hit-rate, --l2-hit-rate, --no-caches.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "emulation/schedule/settings.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace trimtab::tools {

// Bad values are errors of usage. `settings` is filled while the command line is read.
void add_machine_options(CLI::App& command, schedule::Settings& settings);

// {"dram.gap": 2.5, "l1_hit_rate": 0.5, "caches": false}: what was set, and no more.
[[nodiscard]] nlohmann::ordered_json to_json(const schedule::Settings& settings);
// "dram.gap 2.5 cycles, L1 hit rate 50 %"; empty if nothing was set.
[[nodiscard]] std::string to_text(const schedule::Settings& settings);

}  // namespace trimtab::tools
