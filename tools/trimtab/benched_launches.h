// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What TRIMTAB_BENCH's lines (runtime/launches/block_times.h) add up to, launch by launch.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/trimtab/heat_map.h"

namespace trimtab::tools {

// One shape of a launch, and how long it took.
struct TimedShape {
    BlockSize grid{1, 1, 1}, block{1, 1, 1};
    std::uint64_t dynamic_shared_bytes = 0;
    std::vector<double> ns;                               // as they came
    std::map<std::string, std::vector<double>> counters;  // in the place of times: by CUPTI's names
    std::string failed;                                   // CUDA's name of the error; empty: it ran
    unsigned least_sm_mhz = 0, most_sm_mhz = 0;           // while it was timed; 0: not known
    std::set<std::string> slowed_by;                      // what held the clocks down then

    [[nodiscard]] double median_ns() const;  // 0: it was never timed
};

struct BenchedLaunch {
    std::string id, kernel, demangled, object, device;
    std::string chip;  // whose counters were read, as CUPTI names it; empty: it was timed
    bool is_emulated = false;
    std::vector<std::pair<std::string, double>> data;  // D
    TimedShape written, chosen;            // shapes alone; chosen: what the runtime would have taken
    BlockSize occupancy_block{1, 1, 1};    // what CUDA's occupancy API answers
    std::vector<BlockSize> common_blocks;  // what people take
    std::uint64_t shape_count = 0, repetitions = 0;  // that were to be timed
    std::string ended;                               // why it ended before that
    std::vector<TimedShape> shapes;                  // in the order in which they were first timed

    [[nodiscard]] const TimedShape* best() const;  // null: none was timed
    [[nodiscard]] const TimedShape* find(const TimedShape& shape) const;
    // Of those with this block the one with the number of threads as written; null: it was not timed.
    [[nodiscard]] const TimedShape* find(const BlockSize& block) const;
    [[nodiscard]] std::size_t timed_count() const;
};

struct Bench {
    std::vector<std::string> program;  // of the file's first line; empty: it has none
    std::string device;
    std::vector<BenchedLaunch> launches;  // as they came
    std::vector<std::pair<std::string, std::string>>
        skipped;  // kernels (demangled) that were not timed, and why
    std::size_t unreadable_lines = 0;
};

// A last line without an end is left out: its process was killed.
[[nodiscard]] Bench read_bench(std::string_view json_lines);

// The shapes that a launch is judged by: the best, the one as written, the driver program's, the occupancy API's,
// and those that people take.
struct ComparedShape {
    std::string name;
    BlockSize block{1, 1, 1};
    const TimedShape* shape = nullptr;  // null: no legal block, or not timed
};
[[nodiscard]] std::vector<ComparedShape> compared_shapes(const BenchedLaunch& launch);

}  // namespace trimtab::tools
