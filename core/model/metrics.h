// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The low-level metrics L: what a profile measures at a point (D, P), what is fitted, and what the models
// read.
//
// A warp is active if it makes a memory access or meets a barrier; a block, if one of its warps is active.
// Averages are over active warps or active blocks, so that threads beyond the guard do not dilute them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trimtab::model {

enum class Metric : std::uint8_t {
    warp_instructions,  // issued per active warp, all classes
    fp32_instructions,  // warp instructions per active warp, by pipe ...
    fp64_instructions,
    integer_instructions,
    special_function_instructions,
    control_instructions,  // branches, calls, returns
    load_requests,         // global and generic loads (warp requests) per active warp
    store_requests,
    atomic_requests,        // atom and red on global memory
    local_requests,         // loads and stores of local memory
    shared_requests,        // shared loads, stores and atomics
    shared_wavefronts,      // the same, each counted as often as bank conflicts repeat it
    load_sectors,           // distinct 32-byte sectors, summed over the load requests of an active warp
    store_sectors,          // stores and atomics likewise
    store_partial_sectors,  // those of store_sectors, atomics aside, that a request does not write wholly
    load_lines,             // distinct 128-byte lines, summed likewise
    store_lines,
    barriers,            // per active warp
    divergent_branches,  // per active warp
    active_lanes,        // mean lanes per warp instruction, 1 to 32
    dependent_rounds,    // times an active warp must wait for global memory: loads that do not depend on each
                         // other share a round
    instruction_parallelism,  // mean independent instructions in flight in one warp, from the dependences of
                              // the code: at least 1
    active_warps,             // per active block
    active_blocks,            // of the launch
    footprint_sectors  // distinct 32-byte global sectors touched by the threads of a box of bx * by * bz
                       // threads; the box may be larger than a block (the blocks resident on an SM, or a wave
                       // of the device)
};
inline constexpr std::size_t metric_count = static_cast<std::size_t>(Metric::footprint_sectors) + 1;

struct MetricInfo {
    Metric metric;
    std::string_view name;  // as the enumerator: the name in JSON and in driver programs
    std::string_view unit;  // "warp instructions per active warp"
    std::string_view meaning;
};
[[nodiscard]] const std::array<MetricInfo, metric_count>& metric_table();
[[nodiscard]] std::string_view name(Metric metric);
[[nodiscard]] std::optional<Metric> metric_named(std::string_view name);
// What a warp executes, whatever its addresses are: instructions, requests, barriers, rounds.
[[nodiscard]] bool is_count(Metric metric);

using MetricValues = std::array<double, metric_count>;

}  // namespace trimtab::model
