// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `ncu --csv` prints: the raw page (a row a launch, then a column a metric) and the page of details (a row a launch and
// metric).
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advice/counters/counted_launch.h"
#include "trimtab/error.h"

namespace trimtab::advice {

// Launches in their order; at least one. Lines before the header, as programs and ncu write them, and metrics that
// counter_names() does not list are passed over. The error names the line and column.
[[nodiscard]] std::expected<std::vector<CountedLaunch>, Error> read_ncu_csv(std::string_view text,
                                                                            const std::string& origin);

}  // namespace trimtab::advice
