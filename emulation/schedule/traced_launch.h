// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch, traced: what some of its blocks do, those of one SM, ready to be scheduled.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/device.h"
#include "core/sass/assemble.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/schedule/edits.h"
#include "emulation/schedule/settings.h"
#include "emulation/schedule/trace.h"
#include "trimtab/error.h"

namespace trimtab::schedule {

struct TraceRequest {
    emulator::Program* program = nullptr;
    emulator::GlobalMemory* memory = nullptr;
    std::string_view kernel;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    std::span<const std::byte> parameters;
    const model::Device* device = nullptr;
    std::uint32_t resident = 1;            // blocks that fit an SM at once
    double shared_bytes_of_block = 0;      // what L1 loses to it, where they share a memory
    std::uint64_t instruction_budget = 0;  // warp instructions that may be run; 0: no limit
    bool loads_bypass_l1 = false;          // those that say nothing of their own (-Xptxas -dlcm=cg)
    Policy policy = Policy::greedy_then_oldest;
    Settings settings{};                   // of the SM, in the place of the device's
    std::function<bool()> is_cancelled{};  // as emulator::LaunchRequest's
    bool is_interpreted = false;           // likewise
    bool runs_every_iteration =
        false;  // of loops too whose course is known (counted_loops.h); times are the same
    const sass::Assembly* code =
        nullptr;                    // what ptxas makes of the kernel for the device; nullptr: PTX must do
    std::span<const Edit> edits{};  // of the PTX: there is no machine code of what was not compiled
    std::optional<std::uint64_t>
        first_block{};  // of an SM's blocks, where those traced begin; else the launch decides
};

struct TracedLaunch {
    KernelTrace trace;
    Machine machine;
    std::uint32_t resident = 1;
    std::uint64_t blocks_on_sm = 1;  // of the SM that has the most
    double work_ratio = 1;           // mean work of the launch's blocks over that of those traced
    double sm_clock_hz = 1, launch_overhead_ns = 0;
    std::string machine_code;     // the architecture of the code that was traced, "sm_86"; empty: PTX
    std::string no_machine_code;  // why not, where there was some
    std::uint64_t blocks_run = 0, warp_instructions = 0;  // by the functional emulator
    double block_warp_instructions = 0;  // of a traced block on average, iterations that were left out too
    bool is_cut = false;  // loops beyond what can be kept: the time is of the part kept, scaled
    // By instruction in the kernel's numbering.
    std::vector<emulator::InstructionPlace> places;
};

// By blocks that the functional emulator runs.
[[nodiscard]] std::expected<TracedLaunch, Error> trace_launch(const TraceRequest& request);

// By blocks of which `source` knows what they do: nothing is run, and the request's memory is not looked at.
class BlockSource;
[[nodiscard]] std::expected<TracedLaunch, Error> trace_launch(const TraceRequest& request,
                                                              BlockSource& source);

}  // namespace trimtab::schedule
