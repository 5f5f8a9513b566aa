// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What counters tell of a launch, whichever of a profiler's metrics say it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advice/counters/counted_launch.h"

namespace trimtab::advice {

inline constexpr double bytes_of_a_sector = 32;

// Of the whole launch, in SI units; shares from 0 to 1. The names are those of rules.json: "load_sectors", "dram_bytes".
class Quantities {
  public:
    explicit Quantities(const std::map<std::string_view, double>& values);

    [[nodiscard]] std::optional<double> find(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return find(name).has_value(); }
    [[nodiscard]] double or_zero(std::string_view name) const { return find(name).value_or(0); }

  private:
    std::map<std::string_view, double> values_;
};

[[nodiscard]] bool is_quantity(std::string_view name);
// What every rule needs: without it the model cannot be asked.
[[nodiscard]] const std::vector<std::string_view>& needed_by_all();
// The metrics to collect for a quantity.
[[nodiscard]] std::set<std::string_view> metrics_for(std::string_view quantity);

// A pipe or a level of memory that profilers state the use of, from 0 to 1.
struct UsedResource {
    std::string_view name, title;
    bool is_memory = false;
    double share = 0;
};
[[nodiscard]] std::vector<UsedResource> used_resources(const std::map<std::string_view, double>& values);

}  // namespace trimtab::advice
