// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if: an SM with other latencies and gaps than its device's, and with caches as they were measured, or without.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/device.h"
#include "emulation/schedule/resources.h"

namespace trimtab::schedule {

struct Settings {
    struct Number {
        Resource resource = Resource::fp32;
        bool is_gap = false;  // else its latency
        double cycles = 0;
    };
    std::vector<Number> numbers;  // of two for the same, the later holds
    // Of the lines that loads look up there: the share that is found.
    std::optional<double> l1_hit_rate{}, l2_hit_rate{};
    bool no_caches = false;

    [[nodiscard]] bool is_empty() const {
        return numbers.empty() && !l1_hit_rate && !l2_hit_rate && !no_caches;
    }
};

// "dram.gap=2.5"; an error lists the names that there are.
[[nodiscard]] std::expected<Settings::Number, std::string> number_from(std::string_view text);

// "dram.gap"
[[nodiscard]] std::string name(const Settings::Number& number);

void apply(const Settings& settings, Machine& machine);

// The device with those numbers of `settings` that follow from its description, for models that read nothing else: such
// that machine_of() gives them while all SMs are active, gaps up to a warp's lanes one by one.
[[nodiscard]] model::Device with_settings(model::Device device, const Settings& settings);

// The first latency of `settings` that machine code states itself, in when its instructions issue: what ptxas makes of a
// kernel for the device does not run on one with another.
[[nodiscard]] std::optional<Settings::Number> in_machine_code(const Settings& settings);

}  // namespace trimtab::schedule
