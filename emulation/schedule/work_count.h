// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch asks of an SM's resources, counted from its trace.
#pragma once

#include <array>

#include "emulation/schedule/resources.h"
#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

struct WorkCount {
    std::array<double, resource_count> cycles{};  // gaps that are taken, of all the resource's units together
    double serial_cycles = 0;                     // every instruction by itself, from its issue to its end

    void add(const WorkCount& other, double factor) {
        for (std::size_t r = 0; r < resource_count; ++r) cycles[r] += factor * other.cycles[r];
        serial_cycles += factor * other.serial_cycles;
    }
};

// What `blocks` blocks ask for, of which number i does as trace.blocks[i % size] did. Of what passes a cache only what
// is touched for the first time is counted: a sector once a block at DRAM, and at L2, if L1 keeps loads, a segment once
// for all traced blocks together.
[[nodiscard]] WorkCount work_count(const KernelTrace& trace, const Machine& machine, double blocks);

// Steps of iterations beyond those that are kept may have been recorded before it showed that fewer will do.
[[nodiscard]] inline bool is_kept(const Code& code, const Step& step) {
    for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d)
        if (step.iteration[d] > code.loops[step.loops[d]].kept_iterations) return false;
    return true;
}

// Iterations of a loop that show what those beyond what the trace keeps do.
[[nodiscard]] inline bool is_late(const Code& code, const Step& step, std::size_t depth) {
    return step.iteration[depth] > code.loops[step.loops[depth]].kept_iterations / 2;
}

}  // namespace trimtab::schedule
