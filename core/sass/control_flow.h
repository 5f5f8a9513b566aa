// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Basic blocks and loops of a function of SASS.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/graph.h"
#include "core/sass/disassembly.h"

namespace trimtab::sass {

using ptx::BlockIndex, ptx::Loop, ptx::no_index;
using Block = ptx::BasicBlock;

struct ControlFlow {
    std::vector<Block> blocks;                  // in the order of the code; block 0 is the entry
    std::vector<Loop> loops;                    // outer loops before inner ones
    std::vector<std::uint32_t> innermost_loop;  // by block; no_index: none
    std::vector<bool> reachable;                // by block
    bool complete = true;                       // no branch through a register
};

// A call returns behind itself; what a subroutine does is in no loop of its caller's. ptxas ends the code with
// a branch to itself and padding, which nothing reaches.
[[nodiscard]] ControlFlow control_flow(const Function& function);

}  // namespace trimtab::sass
