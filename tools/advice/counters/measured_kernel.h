// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch as its counters tell it, in the terms of the model and of the rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/device.h"
#include "emulation/emulator/metrics/launch_profile.h"
#include "tools/advice/bottleneck.h"
#include "tools/advice/counters/counted_launch.h"
#include "tools/advice/counters/quantities.h"
#include "tools/advice/rooflines.h"
#include "tools/advice/what_if.h"

namespace trimtab::advice {

// One shape of a kernel: `launch` is the mean of its launches.
struct MeasuredShape {
    CountedLaunch launch;
    std::uint64_t launches = 1;
};

// The launch's counts as a profile record: an instruction for each kind that was counted. What no counter tells (rounds of
// waiting, parallelism, footprints) is 0; fit() finds it.
[[nodiscard]] emulator::LaunchProfile profile_of(const MeasuredShape& shape, const Quantities& quantities,
                                                 const model::Device& device);

// What Gehrke's analysis reads.
[[nodiscard]] ProfileRecord record_of(const Quantities& quantities, const std::vector<UsedResource>& used,
                                      const model::Device& device);
// The work that was counted over the device's rates; where a profiler states the use of a resource, that.
[[nodiscard]] Rooflines measured_rooflines(const Quantities& quantities,
                                           const std::vector<UsedResource>& used,
                                           const model::Device& device);

}  // namespace trimtab::advice
