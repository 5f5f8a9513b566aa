// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Architecture descriptions: the latencies, gaps and rules of an SM that device descriptions leave open, read from
// core/model/architectures/*.json (installed under share/trimtab/architectures and compiled in).
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::model {

struct Device;

// A number and where it comes from, as in device descriptions: "vendor: ...", "measured: ..." or "estimated: ...".
struct Sourced {
    double value = 0;
    std::string source;
};

// A member for each field; what they mean: core/model/architectures/README.md. Latencies and gaps are in cycles.
struct Architecture {
    std::string name;  // "turing"
    unsigned first_capability =
        0;  // 75: compute capability 7.5, and newer ones up to the next architecture's

    Sourced latency_integer, latency_fp64, latency_conversion, latency_special_function, latency_tensor,
        latency_branch, latency_barrier, latency_collective, latency_constant, latency_texture,
        latency_atomic, latency_special_register, latency_block_start;
    Sourced gap_tensor, gap_branch, gap_barrier, gap_constant, gap_texture, gap_l1, gap_l2_port, gap_atomic,
        gap_issue, gap_block_start;
    Sourced issues_per_cycle, memory_queue, l1_has_banks, l2_share, dram_share;
    Sourced integer_multiply_slots, integer_multiplications;
    Sourced store_whole_sector, store_partial_sector, store_fragment;
    // What sequences take beyond one instruction's latency where PTX has one instruction.
    Sourced added_divide_i32, added_divide_i64, added_divide_f32, added_divide_f64, added_root_f32,
        added_root_f64, added_reciprocal_f32, added_approximation;
};

// Every built-in architecture, the oldest first, with what each inherits.
[[nodiscard]] const std::vector<Architecture>& architectures();

// The one that the device's description names, else the newest that is not newer than its compute capability (the
// oldest for older ones), with the device's own values in the place of the architecture's.
[[nodiscard]] Architecture architecture_of(const Device& device);

// The description of an architecture by name, for "inherits".
using ArchitectureTexts = std::function<std::optional<std::string_view>(std::string_view name)>;
[[nodiscard]] std::optional<std::string_view> builtin_architecture(std::string_view name);

// A description in JSON; `origin` names it in errors, which name the place.
[[nodiscard]] std::expected<Architecture, Error> parse_architecture(
    std::string_view json, const std::string& origin, const ArchitectureTexts& others = builtin_architecture);

}  // namespace trimtab::model
