// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which indices of a launch do work, as functions of the data parameters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace trimtab::profiler {

inline constexpr std::uint32_t no_data = 0xffffffffu;

// A linear form over D: constant + sum of factor * D[data].
struct LinearForm {
    double constant = 0;
    std::vector<std::pair<std::uint32_t, double>> terms;
    [[nodiscard]] double evaluate(std::span<const double> data) const;
    friend bool operator==(const LinearForm&, const LinearForm&) = default;
};

// The indices [first, end) of each dimension that pass the kernel's guards, clipped to the launch's extent
// where D holds it. A dimension without a guard has end = the extent; one that the kernel never reads, [0,
// 1).
struct IndexRanges {
    std::array<LinearForm, 3> first, end;
    std::array<std::uint32_t, 3> extent{no_data, no_data, no_data};
    // first.x, end.x, first.y, end.y, first.z, end.z at D.
    [[nodiscard]] std::array<double, 6> evaluate(std::span<const double> data) const;
    friend bool operator==(const IndexRanges&, const IndexRanges&) = default;
};

}  // namespace trimtab::profiler
