// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the device descriptions leave open of an SM's resources, by architecture.
#pragma once

#include <string_view>

#include "core/model/device.h"
#include "emulation/schedule/recorder.h"
#include "emulation/schedule/resources.h"

namespace trimtab::schedule {

// A number and where it comes from: "vendor: ..." names a document of NVIDIA's, "estimated: ..." says from what.
// "As remembered of" a paper: not held against its tables yet.
struct Sourced {
    double value = 0;
    std::string_view source;
};

struct Architecture {
    std::string_view name;
    unsigned first_capability = 0;  // up to the next one's
    Sourced integer_latency, fp64_latency, conversion_latency, special_function_latency, collective_latency,
        constant_latency, texture_latency, atomic_latency, barrier_latency, branch_latency, tensor_latency;
    Sourced tensor_gap;              // cycles between the starts of two mma of a scheduler's unit
    Sourced atomic_gap;              // cycles between two atomics of an SM on one address
    Sourced issues_per_cycle;        // of one scheduler
    Sourced integer_multiply_slots;  // passes of the integer unit that a 32-bit multiplication takes
    // Between two segments of 64 bytes, used whole or in part, that L2 sends to one SM.
    Sourced port_gap;
    // Slots of L2 that a store takes for each whole sector outside whole segments of 64 bytes, each sector that
    // it writes in part, and each (quad of lanes, sector) pair outside whole segments.
    Sourced store_whole_sector, store_partial_sector, store_fragment;
    Sourced block_start_cycles;
};

// The newest that is not newer than the capability (75: 7.5); the oldest for older ones.
[[nodiscard]] const Architecture& architecture_of(unsigned capability);

[[nodiscard]] StoreRules store_rules(const Architecture& architecture);

// One SM of the device while `active_sms` of them share L2 and DRAM.
[[nodiscard]] Machine machine_of(const model::Device& device, double active_sms);

}  // namespace trimtab::schedule
