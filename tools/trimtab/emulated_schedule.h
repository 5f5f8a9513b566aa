// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch of the command line, traced and scheduled (emulation/schedule/).
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "core/model/launch_configuration.h"
#include "core/sass/assemble.h"
#include "emulation/schedule/traced_launch.h"
#include "tools/trimtab/launch_options.h"
#include "trimtab/error.h"

namespace trimtab::tools {

struct ScheduleOptions {
    schedule::Policy policy = schedule::Policy::greedy_then_oldest;
    bool loads_bypass_l1 = false;
    std::uint64_t instruction_budget =
        400'000'000;                             // warp instructions of functional emulation: half a minute
    bool from_ptx = false;                       // though machine code could be had
    std::optional<std::uint64_t> first_block{};  // as schedule::TraceRequest's
    schedule::Settings settings{};               // likewise
};

// Arrays are where the command line says, else in regions of their own, filled deterministically. `resident`:
// blocks that fit an SM at once.
[[nodiscard]] std::expected<schedule::TracedLaunch, Error> trace_launch(
    const LaunchQuestion& question, const model::LaunchConfiguration& launch, std::uint32_t resident,
    const ScheduleOptions& options);

// What ptxas makes of the kernel for the device, unless `options` rules it out: the error says why the PTX must do.
[[nodiscard]] std::expected<sass::Assembly, Error> machine_code_of(const LaunchQuestion& question,
                                                                   const ScheduleOptions& options);

// The same in steps, for many launches of one kernel.
[[nodiscard]] std::expected<std::shared_ptr<emulator::Program>, Error> load_program_of(
    const LaunchQuestion& question);
[[nodiscard]] std::expected<schedule::TracedLaunch, Error> trace_launch(
    const LaunchQuestion& question, emulator::Program& program, const model::LaunchConfiguration& launch,
    std::uint32_t resident, const ScheduleOptions& options);

// The first instructions of an SM as a Chrome trace (Perfetto reads it): a process a block, a thread a warp, times in cycles.
[[nodiscard]] std::string chrome_trace(const schedule::TracedLaunch& launch, std::size_t instructions);

}  // namespace trimtab::tools
