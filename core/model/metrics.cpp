// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/metrics.h"

#include <algorithm>

namespace trimtab::model {

const std::array<MetricInfo, metric_count>& metric_table() {
    using enum Metric;
    static constexpr std::array<MetricInfo, metric_count> table{{
        {warp_instructions, "warp_instructions", "warp instructions per active warp",
         "instructions issued, all classes"},
        {fp32_instructions, "fp32_instructions", "warp instructions per active warp",
         "single-precision arithmetic"},
        {fp64_instructions, "fp64_instructions", "warp instructions per active warp",
         "double-precision arithmetic"},
        {integer_instructions, "integer_instructions", "warp instructions per active warp",
         "integer, logic and comparison"},
        {special_function_instructions, "special_function_instructions", "warp instructions per active warp",
         "reciprocal, square root, sine, exponential approximations"},
        {control_instructions, "control_instructions", "warp instructions per active warp",
         "branches, calls and returns"},
        {load_requests, "load_requests", "warp requests per active warp", "global and generic loads"},
        {store_requests, "store_requests", "warp requests per active warp", "global and generic stores"},
        {atomic_requests, "atomic_requests", "warp requests per active warp",
         "atomics and reductions on global memory"},
        {local_requests, "local_requests", "warp requests per active warp",
         "loads and stores of local memory: spills and stack"},
        {shared_requests, "shared_requests", "warp requests per active warp",
         "loads, stores and atomics of shared memory"},
        {shared_wavefronts, "shared_wavefronts", "passes per active warp",
         "shared requests, each counted as often as bank conflicts repeat it"},
        {load_sectors, "load_sectors", "sectors per active warp",
         "distinct 32-byte sectors of a load request, summed over requests"},
        {store_sectors, "store_sectors", "sectors per active warp",
         "distinct 32-byte sectors of a store or atomic request, summed over requests"},
        {store_partial_sectors, "store_partial_sectors", "sectors per active warp",
         "sectors that a store request writes in part, summed over requests"},
        {load_lines, "load_lines", "lines per active warp",
         "distinct 128-byte lines of a load request, summed over requests"},
        {store_lines, "store_lines", "lines per active warp",
         "distinct 128-byte lines of a store or atomic request, summed over requests"},
        {barriers, "barriers", "barriers per active warp", "block-wide barriers that a warp meets"},
        {divergent_branches, "divergent_branches", "branches per active warp", "branches that split a warp"},
        {active_lanes, "active_lanes", "lanes", "mean lanes that take part in a warp instruction, 1 to 32"},
        {dependent_rounds, "dependent_rounds", "rounds per active warp",
         "times a warp must wait for global memory"},
        {instruction_parallelism, "instruction_parallelism", "instructions",
         "mean independent instructions in flight in one warp, at least 1"},
        {active_warps, "active_warps", "warps per active block",
         "warps that make a memory access or meet a barrier"},
        {active_blocks, "active_blocks", "blocks of the launch", "blocks with at least one active warp"},
        {footprint_sectors, "footprint_sectors", "sectors per box",
         "distinct 32-byte global sectors that the threads of a box touch"},
    }};
    return table;
}

std::string_view name(Metric metric) {
    return metric_table()[static_cast<std::size_t>(metric)].name;
}

std::optional<Metric> metric_named(std::string_view name) {
    const auto& table = metric_table();
    const auto* found = std::ranges::find(table, name, &MetricInfo::name);
    if (found == table.end()) return std::nullopt;
    return found->metric;
}

bool is_count(Metric metric) {
    using enum Metric;
    return metric <= shared_requests || metric == barriers || metric == divergent_branches ||
           metric == dependent_rounds;
}

}  // namespace trimtab::model
