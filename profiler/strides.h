// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which data parameters are strides: how far apart neighbouring threads' accesses lie.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <vector>

#include "profiler/backend.h"
#include "profiler/plan.h"

namespace trimtab::profiler {

// Of a few blocks at `data`.
struct Probed {
    Measurement measurement;
    double threads = 0;  // of a block
};
using Probe = std::function<std::expected<Probed, MeasureError>(const std::vector<double>& data)>;

// Ascending places in D.
struct Strides {
    std::vector<std::uint32_t> all;
    // Of these, rows that lie next to each other, each a thread's: how many elements they have is how far apart they lie
    // (channels, the coordinates of points).
    std::vector<std::uint32_t> widths;
};
// Where such a parameter of `base` (Planner::apart) is 1, threads do the same, or less of it by a width, and neighbours in x
// or in another dimension lie side by side.
[[nodiscard]] Strides find_strides(const Planner& planner, const std::vector<double>& base,
                                   const Probe& probe);

// Which strides are 1 together in arrays as programs lay them out, the most usual first: at most one of each array, in
// as many arrays as can be.
[[nodiscard]] std::vector<Planner::Layout> usual_layouts(const std::vector<std::uint32_t>& strides,
                                                         const std::vector<double>& base, const Probe& probe);

// Do two measurements differ in what a warp executes?
[[nodiscard]] bool do_other_work(const Measurement& a, const Measurement& b);

}  // namespace trimtab::profiler
