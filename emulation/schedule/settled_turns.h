// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many turns of a loop show what all of them cost.
#pragma once

#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// Where the turns of a loop that was cut short repeat themselves after fewer than half of those kept, fewer are kept.
void settle_turns(KernelTrace& trace);

}  // namespace trimtab::schedule
