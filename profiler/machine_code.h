// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the emulator's counts of PTX meet ptxas's code.
#pragma once

#include <string_view>
#include <vector>

#include "core/sass/match.h"
#include "emulation/emulator/exec/counters.h"
#include "emulation/emulator/exec/launch.h"

namespace trimtab::profiler {

// Executions of every instruction of the kernel and of what it calls, active warps alone. They refer to
// `program`.
[[nodiscard]] std::vector<sass::PtxCounts> ptx_counts(const emulator::Program& program,
                                                      std::string_view kernel,
                                                      const emulator::LaunchCounters& counters);

}  // namespace trimtab::profiler
