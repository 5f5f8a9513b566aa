// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The trace of a launch's warps through ptxas's machine code, from that through the PTX.
//
// Which block of the code a warp runs how often follows from how often it ran each instruction of the PTX
// (core/sass/match.h); it passes them in the order of the code, loops iteration by iteration. What an access
// touched is what the PTX's access of the same line touched: the n-th time there is the n-th time here. When an
// instruction may issue is not guessed: the code states stall cycles, and which of six counters of the warp it sets
// and waits for.
#pragma once

#include <expected>
#include <string>

#include "core/sass/assemble.h"
#include "emulation/schedule/code_builder.h"
#include "emulation/schedule/sass_costs.h"
#include "emulation/schedule/trace.h"
#include "emulation/schedule/trace_writer.h"

namespace trimtab::schedule {

// Code and blocks. The error says why the PTX must do: the code does not match it well enough.
[[nodiscard]] std::expected<KernelTrace, std::string> machine_trace(const sass::Assembly& assembly,
                                                                    const emulator::CompiledKernel& kernel,
                                                                    const BuiltCode& ptx,
                                                                    const RecordedBlocks& recorded,
                                                                    const CodeDevice& device);

}  // namespace trimtab::schedule
