// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/architecture_fields.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/json_value.h"

namespace trimtab::model {

namespace {

using A = Architecture;
constexpr double least_gap = 0.001, least_share = 0.001;

constexpr ArchitectureField table[] = {
    {"latency_integer_cycles", &A::latency_integer_cycles},
    {"latency_fp64_cycles", &A::latency_fp64_cycles},
    {"latency_conversion_cycles", &A::latency_conversion_cycles},
    {"latency_special_function_cycles", &A::latency_special_function_cycles},
    {"latency_tensor_cycles", &A::latency_tensor_cycles},
    {"latency_branch_cycles", &A::latency_branch_cycles},
    {"latency_barrier_cycles", &A::latency_barrier_cycles},
    {"latency_collective_cycles", &A::latency_collective_cycles},
    {"latency_constant_cycles", &A::latency_constant_cycles},
    {"latency_texture_cycles", &A::latency_texture_cycles},
    {"latency_atomic_cycles", &A::latency_atomic_cycles},
    {"latency_special_register_cycles", &A::latency_special_register_cycles},
    {"latency_block_start_cycles", &A::latency_block_start_cycles},
    {"gap_tensor_cycles", &A::gap_tensor_cycles, least_gap},
    {"gap_branch_cycles", &A::gap_branch_cycles, least_gap},
    {"gap_barrier_cycles", &A::gap_barrier_cycles, least_gap},
    {"gap_constant_cycles", &A::gap_constant_cycles, least_gap},
    {"gap_texture_cycles", &A::gap_texture_cycles, least_gap},
    {"gap_l1_cycles", &A::gap_l1_cycles, least_gap},
    {"gap_l2_port_cycles", &A::gap_l2_port_cycles, least_gap},
    {"gap_atomic_cycles", &A::gap_atomic_cycles, least_gap},
    {"gap_issue_cycles", &A::gap_issue_cycles, least_gap},
    {"gap_block_start_cycles", &A::gap_block_start_cycles},
    {"issues_per_cycle", &A::issues_per_cycle, 1, 8, true},
    {"memory_queue_instructions", &A::memory_queue_instructions, 0, 1024, true},
    {"l1_has_banks", &A::l1_has_banks, 0, 1, true},
    {"l2_share", &A::l2_share, least_share, 1},
    {"dram_share", &A::dram_share, least_share, 1},
    {"integer_multiply_slots", &A::integer_multiply_slots, least_gap},
    {"integer_multiplications_per_clock", &A::integer_multiplications_per_clock, 1},
    {"shift_slots", &A::shift_slots, least_gap},
    {"comparison_slots", &A::comparison_slots, least_gap},
    {"store_whole_sector_slots", &A::store_whole_sector_slots},
    {"store_partial_sector_slots", &A::store_partial_sector_slots},
    {"store_fragment_slots", &A::store_fragment_slots},
    {"added_latency_divide_i32_cycles", &A::added_divide_i32_cycles},
    {"added_latency_divide_i64_cycles", &A::added_divide_i64_cycles},
    {"added_latency_divide_f32_cycles", &A::added_divide_f32_cycles},
    {"added_latency_divide_f64_cycles", &A::added_divide_f64_cycles},
    {"added_latency_root_f32_cycles", &A::added_root_f32_cycles},
    {"added_latency_root_f64_cycles", &A::added_root_f64_cycles},
    {"added_latency_reciprocal_f32_cycles", &A::added_reciprocal_f32_cycles},
    {"added_latency_approximation_cycles", &A::added_approximation_cycles},
    {"barrier_gamma", &A::barrier_gamma},
};

}  // namespace

std::span<const ArchitectureField> architecture_fields() {
    return table;
}

std::vector<std::string_view> architecture_field_names() {
    std::vector<std::string_view> names;
    for (const ArchitectureField& field : table) names.push_back(field.name);
    return names;
}

Sourced read_sourced(const base::JsonValue& entry, const ArchitectureField& field) {
    entry.check_members({"value", "source"});
    Sourced out{.value = entry["value"].number(), .source = entry["source"].text()};
    if (!std::isfinite(out.value)) entry["value"].fail("is not finite");
    if (out.value < field.least) entry["value"].fail(fmt::format("is below {}", field.least));
    if (out.value > field.most) entry["value"].fail(fmt::format("is above {}", field.most));
    if (field.is_whole && out.value != std::floor(out.value)) entry["value"].fail("is not a whole number");
    if (out.source.empty()) entry["source"].fail("is empty: it says where the value is from");
    return out;
}

}  // namespace trimtab::model
