// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/active_groups.h"

#include <algorithm>
#include <cmath>

namespace trimtab::pruning {

namespace {

// The paper's ceil(x, y) and floor(x, y).
double round_up(double x, double unit) {
    return std::ceil(x / std::max(unit, 1.0)) * std::max(unit, 1.0);
}
double round_down(double x, double unit) {
    return std::floor(x / std::max(unit, 1.0)) * std::max(unit, 1.0);
}

}  // namespace

ActiveGroups active_groups(const trimtab_device& d, const trimtab_image& image, std::uint32_t group,
                           double dynamic_local_bytes) {
    ActiveGroups out;
    const double limit = image.max_threads_per_block;
    if (group == 0 || group > d.max_threads_per_block || (limit > 0 && group > limit)) return out;
    const double warps = std::ceil(group / d.warp_size);  // (2)
    out.warps_per_group = static_cast<std::uint32_t>(warps);
    const double most_warps = std::min(std::floor(d.max_threads_per_sm / d.warp_size), d.max_warps_per_sm);
    out.by_architecture =
        static_cast<std::uint32_t>(std::min(d.max_blocks_per_sm, std::floor(most_warps / warps)));  // (1)

    const double registers = image.registers_per_thread;
    double by_registers = d.max_blocks_per_sm;
    if (registers > d.max_registers_per_thread) {
        by_registers = 0;
    } else if (registers > 0) {
        const double of_warp = round_up(registers * d.warp_size, d.register_allocation_unit);
        const double of_group = d.registers_per_block;
        const double warps_by_registers =
            round_down(std::floor(of_group / of_warp), d.warp_allocation_granularity);  // (4)
        by_registers =
            std::floor(warps_by_registers / warps) * std::floor(d.registers_per_sm / of_group);  // (3)
    }
    out.by_registers = static_cast<std::uint32_t>(by_registers);

    const double local = image.static_shared_bytes + dynamic_local_bytes;
    const double reserved = d.shared_reserved_bytes_per_block;
    const double allocated = round_up(local + reserved, d.shared_allocation_bytes);  // (6)
    double by_local = d.max_blocks_per_sm;
    if (local > d.shared_bytes_per_block_optin)
        by_local = 0;
    else if (local + reserved > 0)
        by_local = std::floor(d.shared_bytes_per_sm / allocated);  // (5)
    out.by_local_memory = static_cast<std::uint32_t>(by_local);
    out.groups = std::min({out.by_architecture, out.by_registers, out.by_local_memory});  // (7)
    return out;
}

}  // namespace trimtab::pruning
