// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction pipeline: warps of a round consume their traces (section 5.2).
#pragma once

#include "emulation/opencl/pruning/trace.h"

namespace trimtab::pruning {

// The time of one round in cycles. A warp does its operations one by one; each waits until its component is free,
// holds it for the operation's busy time, and waits for the rest of its latency. Who asks first is served first, of
// those that ask at once the one whose last turn is longest ago: round robin. A component that someone waits for is
// never idle.
//
// Loops of which a trace keeps some iterations are simulated with half of them and with all, and the rest is what
// the second half took, over and over.
[[nodiscard]] double round_cycles(const Round& round, const TracePool& pool);

}  // namespace trimtab::pruning
