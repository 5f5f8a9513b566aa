// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a launch's counters to the low-level metrics of the models.
#pragma once

#include "core/model/metrics.h"
#include "core/model/rational_program.h"
#include "emulation/emulator/exec/counters.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/metrics/footprint_shape.h"

namespace trimtab::emulator {

// Static facts of a kernel's code that metrics need: mean independent instructions in flight (dependence
// heights of its basic blocks, weighted by how often each ran).
[[nodiscard]] double instruction_parallelism(const Program& program, std::string_view kernel,
                                             const LaunchCounters& counters);

// Metrics at (D, P) of the counted launch. Where only some blocks were run, active_blocks is scaled to
// `total_blocks`. footprint_sectors is the mean over active blocks.
[[nodiscard]] model::MetricValues metrics(const Program& program, std::string_view kernel,
                                          const LaunchCounters& counters, std::uint64_t total_blocks);

// The footprints of a block and of a warp of it, from active blocks and warps.
[[nodiscard]] std::vector<FootprintSample> footprints_in_block(const LaunchCounters& counters,
                                                               const trimtab_dim3& block);

// A metric function for model::RationalProgram over one counted launch: every metric as measured;
// footprint_sectors as measured for boxes of the samples' shapes, else judged from them (footprint_shape.h).
[[nodiscard]] model::RationalProgram::MetricFunction measured_metrics(
    const model::MetricValues& values, std::vector<FootprintSample> footprints);

}  // namespace trimtab::emulator
