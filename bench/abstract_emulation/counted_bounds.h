// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between which times a launch lies by what the functional emulator counts of its blocks and what the device's description
// says: nothing of emulation/schedule is asked but which blocks were traced.
#pragma once

#include <expected>
#include <string>

#include "emulation/emulator/exec/program.h"
#include "emulation/schedule/traced_launch.h"
#include "tools/trimtab/launch_options.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::bench {

struct CountedBounds {
    double least_cycles = 0, most_cycles = 0;  // of the busiest SM
    std::string least_by;
};

// Of the launch's PTX: machine code may do with fewer instructions. Every iteration of the traced blocks is run.
[[nodiscard]] std::expected<CountedBounds, Error> counted_bounds(const tools::LaunchQuestion& question,
                                                                 emulator::Program& program,
                                                                 trimtab_dim3 grid, trimtab_dim3 block,
                                                                 std::uint32_t dynamic_shared_bytes,
                                                                 const schedule::TracedLaunch& traced);

}  // namespace trimtab::bench
