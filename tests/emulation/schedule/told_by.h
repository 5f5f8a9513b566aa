// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A traced launch as text, so that two can be compared.
#pragma once

#include <fmt/format.h>

#include <string>

#include "emulation/schedule/estimate.h"
#include "emulation/schedule/traced_launch.h"

namespace trimtab::schedule {

// What a traced warp did, and what follows from it; not what it took to find out.
inline std::string told_by(const TracedLaunch& launch) {
    std::string out = fmt::format("ratio {} ", launch.work_ratio);
    for (const BlockTrace& block : launch.trace.blocks)
        for (const WarpTrace& warp : block.warps) {
            for (const std::uint64_t iterations : warp.iterations)
                out += fmt::format("iterations {} ", iterations);
            for (const Step& step : warp.steps) out += fmt::format("{}:{} ", step.stretch, step.iteration[0]);
            for (const Request& one : warp.requests) {
                out += fmt::format("[{} {} {}", one.lanes, one.sectors, one.passes);
                for (unsigned n = 0; n < one.lines; ++n)
                    out += fmt::format(" {}", block.lines[one.first_line + n].number);
                out += ']';
            }
        }
    for (const Access& access : launch.trace.accesses)
        out += fmt::format("shared {} {} ", access.dram_sectors, access.dram_waits);
    return out + fmt::format("cycles {}", estimate(launch).cycles);
}

}  // namespace trimtab::schedule
