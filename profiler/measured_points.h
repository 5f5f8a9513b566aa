// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the points of a plan as far as a kernel's budget goes.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <vector>

#include "profiler/backend.h"
#include "profiler/plan.h"
#include "profiler/profile.h"

namespace trimtab::profiler {

// What a point came to: itself, after boxes of several of its blocks; empty where nothing of it did anything.
struct MeasuredPoint {
    std::vector<ProfilePoint> points;
    std::uint64_t warp_instructions = 0;  // that were run for it
};
using MeasurePoint = std::function<std::expected<MeasuredPoint, MeasureError>(const PlannedPoint&)>;

struct MeasuredPoints {
    std::vector<ProfilePoint> points;  // in the plan's order
    std::uint32_t left_out = 0;        // of the plan's: there was no budget for them
};

struct PointBudget {
    std::uint64_t warp_instructions = 0;  // of all points together
    std::uint64_t of_a_point = 0;         // what one that was stopped has run
    std::vector<double> warps;            // alongside the points: that each samples
};

// In the order in which they can be spared least: a block of every size, then another of every size ..., so that where the
// budget ends all sizes have about as many blocks, and not all the same ones. Some are measured in any case. A point that was
// stopped at its limit is left out, with those that are larger in every respect.
// The error: a point's that is neither of its limit nor, at few points, of its addresses.
[[nodiscard]] std::expected<MeasuredPoints, MeasureError> measure_points(
    std::span<const PlannedPoint> points, const PointBudget& budget, const MeasurePoint& measure,
    const std::function<void(std::size_t done, std::size_t total)>& progress);

}  // namespace trimtab::profiler
