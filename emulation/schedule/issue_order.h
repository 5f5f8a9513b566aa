// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which straight code issues. PTX comes in the order in which the front end thought of it; ptxas
// moves loads up and puts independent work where it would wait. Machine code has its order already.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// How far an instruction may be moved before others: ptxas has registers to pay for it.
inline constexpr std::size_t issue_window = 32;

// What of the straight code may not pass what.
struct Ordered {
    Instruction instruction;
    std::vector<std::uint32_t> reads, writes;  // registers
    bool is_fence = false;                     // nothing passes it: branches, barriers, calls
    bool reads_constant_memory = false;        // loads that no store can change: they pass stores
};

// Places in `code`, in order of issue: of the `issue_window` first that are left, the first whose operands
// are there; where there is none, that which waits least. `machine` gives the latencies.
[[nodiscard]] std::vector<std::uint32_t> issue_order(std::span<const Ordered> code, const Machine& machine);

}  // namespace trimtab::schedule
