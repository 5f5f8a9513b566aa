// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_EVENT_TIMES=emulation: launches take the time of abstract emulation, of their own memory, and their clocks run
// by it (docs/abstract-emulation.md).
#pragma once

#include <expected>
#include <string>

#include "emulation/cuda/device.h"
#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

// Asked of the environment once.
[[nodiscard]] bool times_are_emulated();

struct EmulatedTime {
    double duration_ns = 0;             // 0: none
    double cycles_per_instruction = 0;  // of a warp, while its block is resident: how %clock64 runs
};

// Before the launch runs; leaves memory as it was. The error: it cannot be emulated so, and why.
[[nodiscard]] std::expected<EmulatedTime, std::string> emulated_time(const Device& device,
                                                                     GlobalMemory& memory,
                                                                     const TimedLaunch& launch,
                                                                     bool cooperative);

// Does the launch look at clocks, with times that are emulated? Then each is emulated, though others like it were.
[[nodiscard]] bool reads_emulated_clock(const TimedLaunch& launch);

}  // namespace trimtab::cuda
