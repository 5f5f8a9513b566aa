// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction of machine code asks of an SM.
#pragma once

#include "core/model/device.h"
#include "core/sass/disassembly.h"
#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

struct CodeDevice {
    const model::Device& device;
    const model::Architecture& architecture;  // of that device
};

// How a function's code uses the counters of a warp.
struct CodeCounters {
    std::uint32_t registers = 1;   // of each counter: Code::registers_of_counter
    bool has_copy_groups = false;  // DEPBAR waits for groups of copies to shared memory, not for instructions
};
[[nodiscard]] CodeCounters counters_of(const sass::Function& function);

// Everything of an Instruction but its access, its region and its source. `of_ptx`: the access to memory that it
// was made of; nullptr where that is none. `counter_registers` gets those of the counters that it waits for, then of
// those that it sets.
[[nodiscard]] Instruction sass_cost_of(const sass::Instruction& instruction, const Instruction* of_ptx,
                                       const CodeDevice& device, const CodeCounters& counters,
                                       std::vector<std::uint32_t>& counter_registers);

}  // namespace trimtab::schedule
