// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/measured_points.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trimtab::profiler {
namespace {

// Fewer points say nothing of a kernel: so many are measured whatever they take.
constexpr std::size_t least_points = 16;

// Points of one data lie side by side in a plan.
std::vector<std::vector<std::size_t>> by_data(std::span<const PlannedPoint> points) {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i == 0 || points[i].data != points[i - 1].data) groups.emplace_back();
        groups.back().push_back(i);
    }
    return groups;
}

// In each round a point of every group, not of the same place in all.
std::vector<std::size_t> order_of(std::span<const PlannedPoint> points) {
    const std::vector<std::vector<std::size_t>> groups = by_data(points);
    std::vector<std::size_t> order;
    for (std::size_t round = 0; order.size() < points.size(); ++round)
        for (std::size_t g = 0; g < groups.size(); ++g)
            if (round < groups[g].size()) order.push_back(groups[g][(round + g) % groups[g].size()]);
    return order;
}

// Does one run as much as another, or more, in every respect?
bool is_as_large(const PlannedPoint& one, double warps, const PlannedPoint& other, double other_warps) {
    return warps >= other_warps && std::ranges::equal(one.data, other.data, std::greater_equal<>());
}

}  // namespace

std::expected<MeasuredPoints, MeasureError> measure_points(
    std::span<const PlannedPoint> points, const PointBudget& budget, const MeasurePoint& measure,
    const std::function<void(std::size_t done, std::size_t total)>& progress) {
    std::vector<std::vector<ProfilePoint>> found(points.size());
    std::vector<std::size_t> stopped;
    std::size_t done = 0, measured_points = 0, faults = 0;
    std::uint64_t spent = 0;
    MeasuredPoints out;
    for (const std::size_t i : order_of(points)) {
        if (progress) progress(done++, points.size());
        const bool is_too_large = std::ranges::any_of(stopped, [&](std::size_t other) {
            return is_as_large(points[i], budget.warps[i], points[other], budget.warps[other]);
        });
        if (is_too_large || (spent > budget.warp_instructions && measured_points >= least_points)) {
            ++out.left_out;
            continue;
        }
        auto measured = measure(points[i]);
        if (!measured && measured.error().limit) {
            spent += budget.of_a_point;
            stopped.push_back(i);
            ++out.left_out;
            continue;
        }
        const bool is_fault = !measured && (measured.error().misaligned || measured.error().outside);
        if (is_fault && ++faults < points.size() / 4) continue;
        if (!measured) return std::unexpected(std::move(measured.error()));
        spent += measured->warp_instructions;
        ++measured_points;
        found[i] = std::move(measured->points);
    }
    if (progress) progress(points.size(), points.size());
    for (std::vector<ProfilePoint>& one : found) std::ranges::move(one, std::back_inserter(out.points));
    return out;
}

}  // namespace trimtab::profiler
