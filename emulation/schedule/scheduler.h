// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Abstract emulation of one SM: warps issue the instructions of their traces, resources admit them one gap
// after the other (algorithm 1 of the paper named in resources.h).
//
// A warp issues in order. An instruction may issue when the registers that it reads are there; it starts when
// its resource admits it (pipe_admit), and what it writes is there a latency later. Issued instructions queue
// without bound. Several schedulers run side by side; each warp belongs to one. A scheduler that issues several
// instructions in a cycle takes all of them from one warp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// Iterations that are run of each recorded loop; the others are left out.
using Caps = std::vector<std::uint16_t>;

// A change of one resource's numbers, in all code or in one region.
struct Change {
    Resource resource = Resource::fp32;
    double latency_factor = 1, gap_factor = 1;
    std::uint32_t region = none;  // none: everywhere
};

struct TimelineEntry {
    std::uint32_t block = 0, warp = 0;  // in order of their start on this SM
    std::uint32_t instruction = 0;      // in Code::instructions
    double issue_cycles = 0, end_cycles = 0;
};

struct Work {
    const KernelTrace* trace = nullptr;
    std::uint32_t resident = 1;  // blocks on the SM at once
    std::uint32_t blocks = 1;    // in all; block i does as trace->blocks[i % size] did
    Caps caps{};                 // by loop; empty: every recorded iteration
    const Change* change = nullptr;
    std::vector<TimelineEntry>* timeline = nullptr;  // is filled, up to its capacity
};

struct Outcome {
    double cycles = 0;
    std::uint64_t warp_instructions = 0;
    std::array<double, resource_count> admitted_cycles{};  // gaps taken, of the busiest of its instances
    std::vector<std::uint64_t> iterations;                 // by loop, of all warps
    std::vector<double> block_end_cycles;                  // by block, in order of start
};

[[nodiscard]] Outcome emulate(const Machine& machine, const Work& work);

}  // namespace trimtab::schedule
