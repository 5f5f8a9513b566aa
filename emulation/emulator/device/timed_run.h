// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch on an emulated device, run and timed.
#pragma once

#include <expected>
#include <functional>
#include <string>

#include "emulation/emulator/device/heap.h"
#include "emulation/emulator/device/launch_timing.h"

namespace trimtab::emulator {

// What tells launches of equal modelled time apart: where buffers lie does not.
[[nodiscard]] std::string time_key(const Heap& heap, const TimedLaunch& launch);

// Nothing of it is counted.
[[nodiscard]] LaunchRequest request_of(const trimtab_device& device, const TimedLaunch& launch);

// Told of a launch that was counted.
using Counted = std::function<void(const LaunchTime& time, const LaunchCounts& counts)>;
// Runs it whole and counts what the model asks for. `is_whole`: the grid may wait for all of itself.
[[nodiscard]] std::expected<LaunchTime, Fault> run_and_time(const trimtab_device& device,
                                                            GlobalMemory& memory, const TimedLaunch& launch,
                                                            bool is_whole, const Counted& counted = {});
// Counts nothing; `time`: of an earlier launch like it.
[[nodiscard]] std::expected<void, Fault> run_only(const trimtab_device& device, GlobalMemory& memory,
                                                  const TimedLaunch& launch, bool is_whole,
                                                  const LaunchTime& time);

}  // namespace trimtab::emulator
