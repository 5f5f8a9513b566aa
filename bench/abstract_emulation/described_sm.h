// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device's description says that an SM does in a cycle. Those who check abstract emulation count by these, and not
// by the machine that it schedules on.
#pragma once

#include <algorithm>

#include "core/model/architecture.h"
#include "core/model/device.h"
#include "trimtab/driver.h"

namespace trimtab::bench {

struct DescribedSm {
    // Of so many SMs that have work.
    DescribedSm(const model::Device& device, double active_sms)
        : d(device.values), a(model::architecture_of(device)), sms(active_sms) {}

    // A warp's instruction, on units of which the SM has so many.
    [[nodiscard]] static double cycles_on(double lanes) { return 32 / std::max(1.0, lanes); }
    // The same on what one scheduler has of them.
    [[nodiscard]] double cycles_on_share(double lanes) const {
        return cycles_on(lanes) * d.schedulers_per_sm;
    }
    [[nodiscard]] double issue_cycles() const {
        return a.gap_issue_cycles.value / a.issues_per_cycle.value / d.schedulers_per_sm;
    }
    // 32 words of shared memory.
    [[nodiscard]] double pass_cycles() const { return 128 / d.shared_bytes_per_clock; }
    [[nodiscard]] double dram_sector_cycles() const {
        return 32 * sms * d.sm_clock_hz / (a.dram_share.value * d.dram_bytes_per_s);
    }
    // 64 bytes of L2.
    [[nodiscard]] double segment_cycles() const {
        return std::max(a.gap_l2_port_cycles.value, 64 * sms / (a.l2_share.value * d.l2_bytes_per_clock));
    }
    [[nodiscard]] double block_cycles() const {
        return a.gap_block_start_cycles.value * sms + a.latency_block_start_cycles.value;
    }
    // Of what is no access to global memory.
    [[nodiscard]] double longest_latency_cycles() const {
        return std::max({a.latency_integer_cycles.value, a.latency_fp64_cycles.value, d.latency_fp32_cycles,
                         a.latency_special_function_cycles.value, a.latency_branch_cycles.value,
                         a.latency_barrier_cycles.value, a.latency_conversion_cycles.value,
                         a.latency_collective_cycles.value, a.latency_constant_cycles.value,
                         a.latency_tensor_cycles.value, d.latency_shared_cycles});
    }
    // All the way to DRAM.
    [[nodiscard]] double memory_latency_cycles() const {
        return d.latency_l1_cycles + d.latency_l2_cycles + d.latency_dram_cycles +
               a.latency_texture_cycles.value + a.latency_atomic_cycles.value;
    }
    [[nodiscard]] double most_store_slots() const {
        return std::max({1.0, a.store_whole_sector_slots.value, a.store_partial_sector_slots.value,
                         a.store_fragment_slots.value});
    }
    // What a sequence that PTX has as one instruction takes beyond it.
    [[nodiscard]] double longest_sequence_cycles() const {
        return std::max({a.added_divide_i32_cycles.value, a.added_divide_i64_cycles.value,
                         a.added_divide_f32_cycles.value, a.added_divide_f64_cycles.value,
                         a.added_root_f32_cycles.value, a.added_root_f64_cycles.value,
                         a.added_reciprocal_f32_cycles.value, a.added_approximation_cycles.value});
    }

    trimtab_device d;
    model::Architecture a;
    double sms;
};

}  // namespace trimtab::bench
