// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often each block of SASS runs, from how often each instruction of the PTX that it was made of ran.
//
// ptxas keeps the line of the PTX that an instruction was made of. Instructions that it neither moves out of
// their block nor makes twice of one (accesses to memory, barriers, plain floating-point arithmetic) say which
// block of PTX a block of SASS is, and how many copies of it that holds. Copies of one loop's body are an
// unrolled loop and its remainder: the largest takes all the iterations that it can, the next what is left. What
// holds no such instruction is known from the flow through its neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ptx/module.h"
#include "core/sass/control_flow.h"

namespace trimtab::sass {

struct PtxCounts {
    const ptx::Function* function = nullptr;
    std::vector<double> executions;  // warp executions of each instruction of its body
};

enum class CountedBy : std::uint8_t {
    lines,    // its own instructions
    flow,     // its neighbours
    guess,    // lines of instructions that ptxas may have moved
    nothing,  // no count: taken as never run
};

struct LoopMatch {
    std::uint32_t loop = 0;  // of the SASS
    std::uint32_t line = 0;  // of the PTX: where the PTX loop's first instruction stands; 0: none found
    double copies = 1;       // iterations of the PTX loop in one of the SASS loop
    double entries = 0, iterations = 0;  // of the SASS loop: from outside, in all
};

struct Match {
    std::vector<double> executions;  // of each block
    std::vector<CountedBy> by;       // likewise
    std::vector<LoopMatch> loops;    // as in ControlFlow::loops
    double counted_share = 0;  // of executed SASS instructions, those in blocks counted by lines or flow
    // Bytes of a lane that the executed accesses to memory move (loads, stores and atomics but those of constants
    // and parameters): of the PTX, and of the SASS as matched. They agree where ptxas dropped none.
    double ptx_bytes = 0, sass_bytes = 0;
};

// `counts`: the kernel first, then what it calls. `warps`: how often the kernel was entered.
[[nodiscard]] Match match(const Function& function, const ControlFlow& flow,
                          std::span<const PtxCounts> counts, double warps);

}  // namespace trimtab::sass
