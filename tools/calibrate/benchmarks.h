// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The micro-benchmarks, by subject. Each is measured as the difference of two lengths, so that what begins and ends a
// launch is in neither.
#pragma once

#include <vector>

#include "tools/calibrate/session.h"

namespace trimtab::calibrate {

// What cycles are told by, and events: `sm_clock_hz`.
[[nodiscard]] std::vector<Measurement> clocks(Session& session);
// One warp, each instruction waiting for the one before: pipes, shared memory, shuffles, atomics.
[[nodiscard]] std::vector<Measurement> latencies(Session& session);
// One lane that follows addresses through L1, L2 and DRAM, and over more and more pages.
[[nodiscard]] std::vector<Measurement> pointer_chases(Session& session);
// One block that keeps a pipe of its SM busy.
[[nodiscard]] std::vector<Measurement> pipe_rates(Session& session);
// Requests of one SM whose lanes lie ever further apart, and atomics.
[[nodiscard]] std::vector<Measurement> request_rates(Session& session);
// L2 and DRAM, of the whole device. `sm_clock_hz`: as clocks() measured it.
[[nodiscard]] std::vector<Measurement> bandwidths(Session& session, double sm_clock_hz);
// An empty launch, blocks of empty launches, copies over the bus.
[[nodiscard]] std::vector<Measurement> launches(Session& session, double sm_clock_hz);

}  // namespace trimtab::calibrate
