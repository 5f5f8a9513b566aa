// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a warp executes of a function, on the mean: instructions by pipe, issue cycles, accesses, waits.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/sass/control_flow.h"

namespace trimtab::sass {

struct Execution {
    double instructions = 0;
    std::array<double, pipe_count> by_pipe{};
    // What the stall counts add up to: the least time in which a warp issues them, were it alone and never
    // waiting for a barrier.
    double issue_cycles = 0;
    double global_loads = 0, global_stores = 0, atomics = 0;
    double shared_accesses = 0;
    double local_loads = 0, local_stores = 0;  // LDL and STL: spilled registers and arrays
    double block_barriers = 0;
    // Times that the warp waits for global memory: an instruction waits for a barrier of a load that was issued
    // behind the last such wait. Loads in flight at once share one.
    double memory_waits = 0;

    [[nodiscard]] double pipe(Pipe which) const { return by_pipe[static_cast<std::size_t>(which)]; }
    [[nodiscard]] double loads_in_flight() const {
        return memory_waits > 0 ? global_loads / memory_waits : 0;
    }
};

// `executions`: of each block; the result is for each of `warps`. NOPs do not count. With 1 for each block that is
// reached and one warp: what the code holds.
[[nodiscard]] Execution execution(const Function& function, const ControlFlow& flow,
                                  std::span<const double> executions, double warps);

}  // namespace trimtab::sass
