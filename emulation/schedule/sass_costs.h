// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction of machine code asks of an SM.
#pragma once

#include "core/model/device.h"
#include "core/sass/instruction.h"
#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

struct CodeDevice {
    const model::Device& device;
    const model::Architecture& architecture;  // of that device
};

// Everything of an Instruction but its access, its region and its source. `of_ptx`: the access to memory that it
// was made of; nullptr where that is none. `counter_registers` gets the counters that it waits for, then those
// that it sets.
[[nodiscard]] Instruction sass_cost_of(const sass::Instruction& instruction, const Instruction* of_ptx,
                                       const CodeDevice& device,
                                       std::vector<std::uint32_t>& counter_registers);

}  // namespace trimtab::schedule
