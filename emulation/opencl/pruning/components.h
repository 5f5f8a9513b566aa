// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What warps of a multiprocessor exclude each other from, and how long an operation of each takes.
//
// This room follows Wang, Qian, Knoll and Huang, "Efficient Performance Estimation and Work-Group Size Pruning for OpenCL
// Kernels on GPUs", IEEE TPDS 31(5), 2020. Equations, algorithms and sections are numbered as there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/model/device.h"
#include "emulation/schedule/trace.h"

namespace trimtab::pruning {

// Section 6.2.1.
enum class Component : std::uint8_t {
    fpu,  // arithmetic
    sfu,  // transcendental functions
    lm,   // local memory: CUDA's shared memory
    cm,   // constant memory behind its cache
    gm,   // global memory behind L2
    cc,   // the constant cache
    gc    // global memory's cache, L2
};
inline constexpr std::size_t component_count = 7;
[[nodiscard]] std::string_view name(Component component);
[[nodiscard]] constexpr std::size_t index(Component component) {
    return static_cast<std::size_t>(component);
}

inline constexpr std::uint64_t sector_bytes = 32, line_bytes = 128;  // a transaction's, and of a line of L2
inline constexpr std::uint64_t constant_line_bytes = 64;

// LAT of section 5.1.2, in cycles of the SM's clock. A transaction holds its component for the delay; the warp that asked
// waits for the latency, which the delay is part of.
struct Latencies {
    std::array<double, component_count> latency_cycles{}, delay_cycles{};
    std::uint64_t l2_bytes = 0;        // this multiprocessor's share
    std::uint64_t constant_bytes = 0;  // of the constant cache
    // A warp's pass through a pipe, by schedule::Resource.
    std::array<double, schedule::resource_count> pass_cycles{};

    [[nodiscard]] double latency(Component c) const { return latency_cycles[index(c)]; }
    [[nodiscard]] double delay(Component c) const { return delay_cycles[index(c)]; }
    // An arithmetic instruction's time in its unit, FPU or SFU.
    [[nodiscard]] double fpu_cycles(const schedule::Instruction& instruction) const;
    [[nodiscard]] double sfu_cycles(const schedule::Instruction& instruction) const;
};

// From the device's description and what abstract emulation has of its architecture, while `active_sms` of its
// multiprocessors share L2 and DRAM.
[[nodiscard]] Latencies latencies_of(const model::Device& device, double active_sms);

}  // namespace trimtab::pruning
