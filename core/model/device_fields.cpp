// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/device_fields.h"

namespace trimtab::model {

std::span<const DeviceField> device_fields() {
    static constexpr DeviceField table[] = {
        {"sm_count", &trimtab_device::sm_count, false},
        {"sm_clock_hz", &trimtab_device::sm_clock_hz, false},
        {"memory_clock_hz", &trimtab_device::memory_clock_hz, false},
        {"dram_bytes", &trimtab_device::dram_bytes, false},
        {"dram_bytes_per_s", &trimtab_device::dram_bytes_per_s, false},
        {"dram_bus_bits", &trimtab_device::dram_bus_bits, false},
        {"l2_bytes", &trimtab_device::l2_bytes, false},
        {"l1_bytes", &trimtab_device::l1_bytes, true},
        {"l1_caches_global_loads", &trimtab_device::l1_caches_global_loads, true},
        {"shared_bytes_per_sm", &trimtab_device::shared_bytes_per_sm, false},
        {"shared_bytes_per_block", &trimtab_device::shared_bytes_per_block, false},
        {"shared_bytes_per_block_optin", &trimtab_device::shared_bytes_per_block_optin, false},
        {"shared_reserved_bytes_per_block", &trimtab_device::shared_reserved_bytes_per_block, true},
        {"shared_allocation_bytes", &trimtab_device::shared_allocation_bytes, false},
        {"registers_per_sm", &trimtab_device::registers_per_sm, false},
        {"registers_per_block", &trimtab_device::registers_per_block, false},
        {"max_registers_per_thread", &trimtab_device::max_registers_per_thread, false},
        {"register_allocation_unit", &trimtab_device::register_allocation_unit, false},
        {"warp_allocation_granularity", &trimtab_device::warp_allocation_granularity, false},
        {"max_threads_per_sm", &trimtab_device::max_threads_per_sm, false},
        {"max_threads_per_block", &trimtab_device::max_threads_per_block, false},
        {"max_blocks_per_sm", &trimtab_device::max_blocks_per_sm, false},
        {"max_warps_per_sm", &trimtab_device::max_warps_per_sm, false},
        {"max_block_x", &trimtab_device::max_block_x, false},
        {"max_block_y", &trimtab_device::max_block_y, false},
        {"max_block_z", &trimtab_device::max_block_z, false},
        {"max_grid_x", &trimtab_device::max_grid_x, false},
        {"max_grid_y", &trimtab_device::max_grid_y, false},
        {"max_grid_z", &trimtab_device::max_grid_z, false},
        {"warp_size", &trimtab_device::warp_size, false},
        {"schedulers_per_sm", &trimtab_device::schedulers_per_sm, false},
        {"fp32_lanes_per_sm", &trimtab_device::fp32_lanes_per_sm, false},
        {"fp64_lanes_per_sm", &trimtab_device::fp64_lanes_per_sm, false},
        {"int32_lanes_per_sm", &trimtab_device::int32_lanes_per_sm, false},
        {"special_function_lanes_per_sm", &trimtab_device::special_function_lanes_per_sm, false},
        {"load_store_units_per_sm", &trimtab_device::load_store_units_per_sm, false},
        {"shared_bytes_per_clock", &trimtab_device::shared_bytes_per_clock, false},
        {"constant_bytes", &trimtab_device::constant_bytes, false},
        {"instruction_cache_bytes", &trimtab_device::instruction_cache_bytes, false},
        {"latency_fp32_cycles", &trimtab_device::latency_fp32_cycles, false},
        {"latency_shared_cycles", &trimtab_device::latency_shared_cycles, false},
        {"latency_l1_cycles", &trimtab_device::latency_l1_cycles, false},
        {"latency_l2_cycles", &trimtab_device::latency_l2_cycles, false},
        {"latency_dram_cycles", &trimtab_device::latency_dram_cycles, false},
        {"departure_delay_coalesced_cycles", &trimtab_device::departure_delay_coalesced_cycles, false},
        {"departure_delay_uncoalesced_cycles", &trimtab_device::departure_delay_uncoalesced_cycles, false},
        {"launch_overhead_ns", &trimtab_device::launch_overhead_ns, true},
        {"concurrent_kernels", &trimtab_device::concurrent_kernels, false},
        {"copy_engines", &trimtab_device::copy_engines, true},
        {"pcie_bytes_per_s", &trimtab_device::pcie_bytes_per_s, false},
        {"l2_bytes_per_clock", &trimtab_device::l2_bytes_per_clock, false},
    };
    // compute_capability and struct_bytes are the only members that are no double.
    static_assert(sizeof(trimtab_device) == 8 + std::size(table) * sizeof(double));
    return table;
}

std::span<const ImageField> image_fields() {
    static constexpr ImageField table[] = {
        {"registers_per_thread", &trimtab_image::registers_per_thread},
        {"static_shared_bytes", &trimtab_image::static_shared_bytes},
        {"local_bytes_per_thread", &trimtab_image::local_bytes_per_thread},
        {"max_threads_per_block", &trimtab_image::max_threads_per_block},
    };
    static_assert(sizeof(trimtab_image) == std::size(table) * sizeof(double));
    return table;
}

}  // namespace trimtab::model
