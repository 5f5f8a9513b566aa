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

// A member for each field; what they mean: core/model/architectures/README.md.
struct Architecture {
    std::string name;  // "turing"
    unsigned first_capability =
        0;  // 75: compute capability 7.5, and newer ones up to the next architecture's

    Sourced latency_integer_cycles, latency_fp64_cycles, latency_conversion_cycles,
        latency_special_function_cycles, latency_tensor_cycles, latency_branch_cycles, latency_barrier_cycles,
        latency_collective_cycles, latency_constant_cycles, latency_texture_cycles, latency_atomic_cycles,
        latency_special_register_cycles, latency_block_start_cycles;
    Sourced gap_tensor_cycles, gap_branch_cycles, gap_barrier_cycles, gap_constant_cycles, gap_texture_cycles,
        gap_l1_cycles, gap_l2_port_cycles, gap_atomic_cycles, gap_issue_cycles, gap_block_start_cycles;
    Sourced issues_per_cycle, memory_queue_instructions, l1_has_banks, l2_share, dram_share;
    Sourced integer_multiply_slots, integer_multiplications_per_clock, shift_slots, comparison_slots;
    Sourced store_whole_sector_slots, store_partial_sector_slots, store_fragment_slots;
    // What sequences take beyond one instruction, where PTX has one.
    Sourced added_divide_i32_cycles, added_divide_i64_cycles, added_divide_f32_cycles,
        added_divide_f64_cycles, added_root_f32_cycles, added_root_f64_cycles, added_reciprocal_f32_cycles,
        added_approximation_cycles;
    Sourced barrier_gamma;  // Gamma of GPUPerf's equation (8)
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
