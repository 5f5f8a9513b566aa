// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose iterations need not be run one by one: it is known how many are left, and that nothing but data hangs on what
// an iteration computes.
//
// Such a loop is one block of code, with at most a bare branch back behind it, that is left where a comparison of
// integers fails, whose sides change by the same amount in every iteration or not at all. Registers of this kind
// can be moved on by any number of iterations at once. What else an iteration carries to the next (a sum), and all
// memory if an iteration stores, is wrong after that. So a loop is only taken if nothing wrong reaches a branch, a
// guard or an address anywhere in the kernel: its warps then go the same way and touch the same places as if every
// iteration had been run.
//
// Or it is a nest: it holds branches and loops, each of which goes the same way in every iteration.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ptx/types.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// A register, or a number.
struct LoopOperand {
    emulator::OperandRef at = emulator::no_operand;
    std::uint64_t value = 0;      // where there is no register
    std::uint32_t moving = none;  // which of CountedLoop::moving it is; none: it stays as it is
    bool moves_first = false;     // before the comparison, in an iteration
};

struct CountedLoop {
    struct Moving {
        emulator::OperandRef at = emulator::no_operand;
        std::uint32_t bytes = 4;  // 4 or 8
        LoopOperand by{};         // is added in every iteration
        bool is_subtracted = false;
    };
    std::uint32_t slot = 0;          // of its region, in the kernel's numbering
    std::uint32_t back_slot = none;  // of the bare branch back, where there is one
    std::uint32_t instructions = 0;  // of an iteration; of a nest's it is seen when it runs
    struct Region {
        std::uint32_t slot = 0, instructions = 0;
    };
    std::vector<Region> regions;  // a nest's, by slot; empty: it is none
    std::vector<Moving> moving;
    LoopOperand left{}, right{};  // what is compared
    ptx::Comparison comparison = ptx::Comparison::none;
    ptx::Type type = ptx::Type::none;  // in which it is
    bool goes_on_if = true;            // the comparison's result with which there is another iteration

    [[nodiscard]] bool is_nest() const { return !regions.empty(); }
    // Of a nest.
    [[nodiscard]] bool has(std::uint32_t of_region) const {
        return std::ranges::binary_search(regions, of_region, {}, &Region::slot);
    }
};

// Of a kernel without calls; others have none.
[[nodiscard]] std::vector<CountedLoop> counted_loops(const emulator::CompiledKernel& kernel);

}  // namespace trimtab::schedule
