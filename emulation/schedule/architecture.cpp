// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/architecture.h"

#include <fmt/format.h>

#include <algorithm>

namespace trimtab::schedule {

namespace {

// A slice of L2 serves 64 bytes of one line a cycle, or a part of them.
constexpr double segment_bytes = 64;

std::string source_of(const model::Device& device, std::string_view field) {
    const auto found = std::ranges::find(device.sources, field, &model::Device::Source::field);
    return fmt::format("{}: {}", field,
                       found == device.sources.end() ? "the device's description" : found->source);
}

}  // namespace

StoreRules store_rules(const model::Architecture& architecture) {
    return {.whole_sector = architecture.store_whole_sector_slots.value,
            .partial_sector = architecture.store_partial_sector_slots.value,
            .fragment = architecture.store_fragment_slots.value};
}

Machine machine_of(const model::Device& device, double active_sms) {
    const trimtab_device& d = device.values;
    const model::Architecture a = model::architecture_of(device);
    Machine machine;
    machine.schedulers = static_cast<unsigned>(std::max(1.0, d.schedulers_per_sm));
    machine.issues_per_cycle = static_cast<unsigned>(a.issues_per_cycle.value);
    machine.memory_queue = static_cast<unsigned>(a.memory_queue_instructions.value);
    machine.block_start_cycles = a.latency_block_start_cycles.value;
    machine.l1_bytes = d.l1_caches_global_loads != 0 ? static_cast<std::uint64_t>(d.l1_bytes) : 0;
    machine.l2_bytes = static_cast<std::uint64_t>(d.l2_bytes / std::max(1.0, active_sms));

    machine.block_gap_cycles = a.gap_block_start_cycles.value * active_sms;
    const auto set_latency = [&](Resource resource, const model::Sourced& latency) {
        machine.of(resource).latency_cycles = latency.value;
        machine.of(resource).latency_source = latency.source;
    };
    const auto latency_from = [&](Resource resource, double cycles, std::string_view field) {
        machine.of(resource).latency_cycles = cycles;
        machine.of(resource).latency_source = source_of(device, field);
    };
    const auto set_gap = [&](Resource resource, double cycles, std::string source) {
        machine.of(resource).gap_cycles = cycles;
        machine.of(resource).gap_source = std::move(source);
    };
    const auto gap_from = [&](Resource resource, const model::Sourced& gap) {
        set_gap(resource, gap.value, gap.source);
    };
    // Units that are many enough are divided among the schedulers; a few belong to the SM.
    const auto lanes = [&](Resource resource, double count, std::string_view field) {
        const double schedulers = machine.schedulers, each = count / schedulers;
        machine.of(resource).per_scheduler = each >= 1;
        set_gap(resource, d.warp_size / (each >= 1 ? each : std::max(count, 1.0)), source_of(device, field));
    };
    latency_from(Resource::fp32, d.latency_fp32_cycles, "latency_fp32_cycles");
    lanes(Resource::fp32, d.fp32_lanes_per_sm, "fp32_lanes_per_sm");
    latency_from(Resource::fp16, d.latency_fp32_cycles, "latency_fp32_cycles");
    lanes(Resource::fp16, d.fp32_lanes_per_sm, "fp32_lanes_per_sm");  // two halves a lane
    set_latency(Resource::fp64, a.latency_fp64_cycles);
    lanes(Resource::fp64, d.fp64_lanes_per_sm, "fp64_lanes_per_sm");
    set_latency(Resource::integer, a.latency_integer_cycles);
    lanes(Resource::integer, d.int32_lanes_per_sm, "int32_lanes_per_sm");
    set_latency(Resource::conversion, a.latency_conversion_cycles);
    lanes(Resource::conversion, d.special_function_lanes_per_sm, "special_function_lanes_per_sm");
    set_latency(Resource::special_function, a.latency_special_function_cycles);
    lanes(Resource::special_function, d.special_function_lanes_per_sm, "special_function_lanes_per_sm");
    set_latency(Resource::tensor, a.latency_tensor_cycles);
    gap_from(Resource::tensor, a.gap_tensor_cycles);
    machine.of(Resource::tensor).per_scheduler = true;
    set_latency(Resource::branch, a.latency_branch_cycles);
    gap_from(Resource::branch, a.gap_branch_cycles);
    machine.of(Resource::branch).per_scheduler = true;
    set_latency(Resource::barrier, a.latency_barrier_cycles);
    gap_from(Resource::barrier, a.gap_barrier_cycles);
    set_latency(Resource::collective, a.latency_collective_cycles);
    lanes(Resource::collective, d.load_store_units_per_sm, "load_store_units_per_sm");
    machine.of(Resource::collective).per_scheduler = false;
    set_gap(Resource::collective, d.warp_size / std::max(1.0, d.load_store_units_per_sm),
            source_of(device, "load_store_units_per_sm"));
    set_gap(Resource::load_store, d.warp_size / std::max(1.0, d.load_store_units_per_sm),
            source_of(device, "load_store_units_per_sm"));
    machine.of(Resource::load_store).latency_source = "none of its own: it is part of the others'";
    latency_from(Resource::shared, d.latency_shared_cycles, "latency_shared_cycles");
    set_gap(Resource::shared, d.warp_size * 4 / std::max(1.0, d.shared_bytes_per_clock),
            source_of(device, "shared_bytes_per_clock"));
    set_latency(Resource::constant, a.latency_constant_cycles);
    gap_from(Resource::constant, a.gap_constant_cycles);
    set_latency(Resource::texture, a.latency_texture_cycles);
    gap_from(Resource::texture, a.gap_texture_cycles);
    latency_from(Resource::l1, d.latency_l1_cycles, "latency_l1_cycles");
    machine.has_banked_l1 = a.l1_has_banks.value != 0;
    gap_from(Resource::l1, a.gap_l1_cycles);
    machine.l1_sectors_a_slot = std::max(1.0, d.shared_bytes_per_clock / 32);  // one memory with shared
    const auto share_of = [&](std::string_view field, const model::Sourced& share) {
        return fmt::format("{}; of that {:.4g} %: {}", source_of(device, field), share.value * 100,
                           share.source);
    };
    latency_from(Resource::l2, d.latency_l2_cycles, "latency_l2_cycles");
    const double of_device =
        segment_bytes * std::max(1.0, active_sms) / (a.l2_share.value * std::max(1.0, d.l2_bytes_per_clock));
    if (of_device > a.gap_l2_port_cycles.value)
        set_gap(Resource::l2, of_device, share_of("l2_bytes_per_clock", a.l2_share));
    else
        gap_from(Resource::l2, a.gap_l2_port_cycles);
    latency_from(Resource::dram, d.latency_dram_cycles, "latency_dram_cycles");
    set_gap(Resource::dram,
            32 * std::max(1.0, active_sms) * d.sm_clock_hz /
                (a.dram_share.value * std::max(1.0, d.dram_bytes_per_s)),
            share_of("dram_bytes_per_s", a.dram_share));
    machine.of(Resource::issue) = {.latency_cycles = 0,
                                   .gap_cycles = a.gap_issue_cycles.value,
                                   .per_scheduler = true,
                                   .latency_source = "none: an instruction's latency is its unit's",
                                   .gap_source = a.gap_issue_cycles.source};
    set_latency(Resource::atomic, a.latency_atomic_cycles);
    gap_from(Resource::atomic, a.gap_atomic_cycles);
    return machine;
}

}  // namespace trimtab::schedule
