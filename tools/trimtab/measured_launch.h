// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The metrics of one launch, measured at that very launch: sampled blocks on the emulator.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "core/model/metrics.h"
#include "core/model/rational_program.h"
#include "core/sass/counted_code.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/metrics/launch_profile.h"
#include "tools/trimtab/launch_options.h"
#include "trimtab/error.h"

namespace trimtab::tools {

struct MeasuredLaunch {
    model::MetricValues values{};
    model::RationalProgram::MetricFunction metric;  // footprints at other boxes too
    std::uint64_t blocks_run = 0, blocks = 0;       // sampled, of the launch
    emulator::LaunchProfile profile;                // of those blocks
    // What ptxas makes of the kernel for the device, with its counts, where it was asked for; without it: why.
    std::optional<sass::CountedCode> code;
    std::string no_code;
};

// Warp instructions that a prediction may cost: some seconds.
inline constexpr std::uint64_t default_instruction_budget = 40'000'000;

// What an array whose contents the command line does not give is filled with, by its type in the source.
[[nodiscard]] emulator::SparseMemory::Fill fill_of(const std::string& pointee);

// Footprints are measured of those boxes that the default model asks for, where that is affordable. Arrays
// are where the command line says, else in regions of their own, filled deterministically. An error where the
// first block alone runs beyond the budget. With `with_code`, what ptxas makes of the kernel for the device is
// counted too, where ptxas and nvdisasm are there.
[[nodiscard]] std::expected<MeasuredLaunch, Error> measure_launch(
    const LaunchQuestion& question, trimtab_dim3 grid, trimtab_dim3 block, std::uint32_t dynamic_shared_bytes,
    std::uint64_t instruction_budget = default_instruction_budget, bool with_code = false);

}  // namespace trimtab::tools
