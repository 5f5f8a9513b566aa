// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a counted launch delivers: per kernel, per static instruction, and footprints.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trimtab::emulator {

enum class InstructionClass : std::uint8_t {
    fp32,
    fp64,
    fp16,
    integer,
    conversion,
    special_function,
    control,
    global_load,
    global_store,
    global_atomic,
    local_memory,
    shared_memory,
    constant_memory,
    barrier,
    warp_collective,
    other
};
inline constexpr std::size_t instruction_class_count = static_cast<std::size_t>(InstructionClass::other) + 1;
[[nodiscard]] std::string_view name(InstructionClass instruction_class);

struct ClassCount {
    std::uint64_t warp = 0, thread = 0;  // instructions

    ClassCount& operator+=(const ClassCount& more) {
        warp += more.warp;
        thread += more.thread;
        return *this;
    }
};

// One static instruction of one launch. Memory fields are of memory instructions alone.
struct InstructionCount {
    std::uint64_t warp = 0, thread = 0;  // executions with at least one lane; lanes
    std::uint64_t requests = 0;          // warp requests
    std::uint64_t sectors = 0;           // distinct 32-byte sectors a request, summed
    std::uint64_t lines = 0;             // distinct 128-byte lines a request, summed
    std::uint64_t full_segments = 0;     // stores: wholly written, aligned 64-byte segments, summed
    std::uint64_t fragments = 0;        // stores: (quad of lanes, sector) pairs outside full segments, summed
    std::uint64_t partial_sectors = 0;  // stores: distinct sectors not wholly written by the request, summed
    std::uint64_t wavefronts = 0;       // shared memory: passes that bank conflicts make of a request, summed
    std::uint64_t bytes = 0;            // lanes * access size
    std::uint64_t divergent = 0;        // branches: executions that split the warp

    InstructionCount& operator+=(const InstructionCount& more) {
        warp += more.warp;
        thread += more.thread;
        requests += more.requests;
        sectors += more.sectors;
        lines += more.lines;
        full_segments += more.full_segments;
        fragments += more.fragments;
        partial_sectors += more.partial_sectors;
        wavefronts += more.wavefronts;
        bytes += more.bytes;
        divergent += more.divergent;
        return *this;
    }
};

// Of the warps of a launch, or of those that one worker runs.
struct WarpCounts {
    std::uint64_t blocks = 0, warps = 0;                // that were run
    std::uint64_t active_blocks = 0, active_warps = 0;  // of those, by the definition in core/model/metrics.h
    std::uint64_t barriers = 0;                         // warp arrivals
    std::uint64_t branches = 0, divergent_branches = 0;
    std::uint64_t dependent_rounds = 0;       // sum over active warps; see Metric::dependent_rounds
    std::uint64_t max_dependent_rounds = 0;   // of one warp
    std::uint64_t max_warp_instructions = 0;  // of one warp
    std::uint64_t block_sectors = 0;          // distinct global sectors a block, summed over active blocks
    // Distinct global sectors a warp, summed over the warps that are looked at: one of each block, in turn.
    std::uint64_t footprint_warps = 0, warp_sectors = 0;

    WarpCounts& operator+=(const WarpCounts& more) {
        blocks += more.blocks;
        warps += more.warps;
        active_blocks += more.active_blocks;
        active_warps += more.active_warps;
        barriers += more.barriers;
        branches += more.branches;
        divergent_branches += more.divergent_branches;
        dependent_rounds += more.dependent_rounds;
        max_dependent_rounds = std::max(max_dependent_rounds, more.max_dependent_rounds);
        max_warp_instructions = std::max(max_warp_instructions, more.max_warp_instructions);
        block_sectors += more.block_sectors;
        footprint_warps += more.footprint_warps;
        warp_sectors += more.warp_sectors;
        return *this;
    }
};

struct LaunchCounters : WarpCounts {
    std::array<ClassCount, instruction_class_count> by_class{};
    // The same of active warps alone: what metrics are averaged from.
    std::array<ClassCount, instruction_class_count> active_by_class{};
    std::vector<InstructionCount> instructions;  // by CompiledKernel's instruction index, active warps alone
    std::uint64_t idle_lanes = 0;                // 32 * warp instructions - thread instructions
    // Distinct global 32-byte sectors and 128-byte lines touched by each group of CountingPlan::groups.
    std::vector<std::uint64_t> group_sectors, group_lines;
    std::uint64_t total_sectors = 0;  // by all blocks that were run; 0 unless CountingPlan::footprints
};

}  // namespace trimtab::emulator
