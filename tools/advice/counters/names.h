// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counters that advice knows: by CUPTI's and Nsight Compute's metric names, and by what the latter's pages call them.
#pragma once

#include <span>
#include <string_view>

#include "tools/advice/counters/units.h"

namespace trimtab::advice {

struct CounterName {
    std::string_view metric;   // "gpu__time_duration.sum"
    std::string_view label;    // "Duration"; empty: pages of details do not name it
    std::string_view section;  // "GPU Speed Of Light Throughput"; empty: reports do not list it
    Dimension dimension = Dimension::count;
};

// In the order of Nsight Compute's sections.
[[nodiscard]] std::span<const CounterName> counter_names();
// Null: not one of them.
[[nodiscard]] const CounterName* counter_named(std::string_view metric);
// By a label, which may be a metric's name; where two have one label the dimension decides.
[[nodiscard]] const CounterName* counter_labelled(std::string_view label, Dimension dimension);

// Reasons why warps do not issue, smsp__average_warps_issue_stalled_<reason>_per_issue_active.ratio.
inline constexpr std::string_view stall_section = "Warp State";

}  // namespace trimtab::advice
