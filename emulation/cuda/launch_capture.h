// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_CAPTURE: one launch of the program, written to a file as it goes out.
#pragma once

#include "emulation/cuda/machine.h"
#include "emulation/cuda/state.h"

namespace trimtab::cuda {

// Writes the launch if it is the one that is asked for; says so, or why it cannot, on stderr. Where work runs:
// with Device::execution, without State::mutex.
void capture_if_wanted(State& state, const Device& device, const TimedLaunch& launch, bool cooperative);

}  // namespace trimtab::cuda
