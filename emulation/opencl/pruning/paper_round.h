// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A round of active work-groups as Wang, Qian, Knoll and Huang count it: what their static pruning hangs on (section 6).
//
// "Efficient Performance Estimation and Work-Group Size Pruning for OpenCL Kernels on GPUs", IEEE TPDS 31(5), 2020.
// Equations, algorithms and sections of this room are numbered as there. Times are not predicted by this, but by abstract
// emulation (emulation/schedule/).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emulation/opencl/pruning/kernel_code.h"
#include "emulation/schedule/traced_launch.h"

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
[[nodiscard]] constexpr std::size_t index(Component component) {
    return static_cast<std::size_t>(component);
}

// LAT of section 5.1.2, in cycles of the SM's clock. A transaction holds its component for the delay; the warp that asked
// waits for the latency, which the delay is part of.
struct Latencies {
    std::array<double, component_count> latency_cycles{}, delay_cycles{};

    [[nodiscard]] double latency(Component c) const { return latency_cycles[index(c)]; }
    [[nodiscard]] double delay(Component c) const { return delay_cycles[index(c)]; }
};
[[nodiscard]] Latencies latencies_of(const schedule::Machine& machine);

// Warps of one trace, N_i, and what one of them does.
struct CountedTrace {
    double warps = 0;
    std::array<double, component_count> busy_cycles{};
    std::array<double, component_count> accesses{};  // kappa of equation (16)
};

struct Bounds {
    double best_cycles = 0, worst_cycles = 0;
};

// Equations (11) to (21). Transactions of one access follow each other: where an access has several, D is what they take
// together. (13) prints the time of one warp where all N_i of a trace pass the unit one by one: it is taken N_i times.
[[nodiscard]] Bounds paper_bounds(std::span<const CountedTrace> traces, const Latencies& latencies);

class PaperRound {
  public:
    // `at_once`: work-groups. What the paper leaves out of traces (section 4.1.1) is known of `code`; without it nothing is.
    PaperRound(const schedule::TracedLaunch& launch, std::uint32_t at_once, const KernelCode* code);

    // Of each active warp its sequence of instructions: what section 6.1 compares.
    using Signature = std::vector<std::uint64_t>;
    [[nodiscard]] const Signature& signature() const { return signature_; }
    [[nodiscard]] Bounds bounds() const { return paper_bounds(traces_, latencies_); }
    [[nodiscard]] std::span<const CountedTrace> traces() const { return traces_; }

  private:
    Latencies latencies_;
    Signature signature_;
    std::vector<CountedTrace> traces_;
};

}  // namespace trimtab::pruning
