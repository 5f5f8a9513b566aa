// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPU that counters are of.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "core/model/device.h"
#include "tools/advice/counters/counted_launch.h"
#include "trimtab/error.h"

namespace trimtab::advice {

// By the name that the profiler gives it, else the only described one with its compute capability, its SMs and its memory's
// bandwidth. The error offers those that it may be.
[[nodiscard]] std::expected<model::Device, Error> counted_device(const CountedLaunch& launch,
                                                                 const std::string& origin);

}  // namespace trimtab::advice
