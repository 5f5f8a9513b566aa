// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many iterations of a loop show what all of them cost.
#pragma once

#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// Where the iterations of a loop that was cut short repeat themselves after fewer than half of those kept, fewer are kept.
void settle_iterations(KernelTrace& trace);

}  // namespace trimtab::schedule
