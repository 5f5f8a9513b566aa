// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulator's own counts in the place of static ones: what warps did, as a round of traces.
#pragma once

#include "emulation/opencl/pruning/round_traces.h"
#include "emulation/schedule/traced_launch.h"

namespace trimtab::pruning {

// The launch must have been traced from PTX. Of more groups at once than were traced, the others do the same elsewhere in
// memory.
[[nodiscard]] Round emulated_round(const schedule::TracedLaunch& launch, std::uint32_t at_once,
                                   const Latencies& latencies, double latency_factor, CachedRound& cached);

}  // namespace trimtab::pruning
