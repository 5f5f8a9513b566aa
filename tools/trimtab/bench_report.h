// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measured times over blocks: as a table, as JSON, CSV and T4, and as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/trimtab/benched_launches.h"

namespace trimtab::tools {

[[nodiscard]] std::string to_text(const Bench& bench);
[[nodiscard]] nlohmann::ordered_json to_json(const Bench& bench);
// A line for every shape of every launch.
[[nodiscard]] std::string to_csv(const Bench& bench);
// Of one launch, for auto-tuners (docs/tuners.md).
[[nodiscard]] std::string to_t4(const BenchedLaunch& launch);
// A page that needs nothing beside it, with a map of the times for every launch.
[[nodiscard]] std::string bench_page(const Bench& bench);

}  // namespace trimtab::tools
