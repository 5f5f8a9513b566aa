// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes at which a kernel is measured: nine levels, the smallest first, each there for a reason of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trimtab::profiler {

struct PlanOptions {
    std::uint32_t least = 64, most = 256;  // sizes; a launch of one dimension gets four times as many threads
};

inline constexpr std::size_t level_count = 9;
// By what they are for; from first_held_out on the fits are checked on them, not made from them.
inline constexpr std::size_t least_level = 0, quarter_level = 1, four_level = 2, middle_level = 3,
                             two_level = 4, three_quarters_level = 5, odd_level = 6, first_held_out_level = 7,
                             most_level = 8;

// No level's size is below that of the one before it. `aligned`: launches are of whole warps.
[[nodiscard]] double level_size(const PlanOptions& options, std::size_t level, bool aligned);
// Of what makes the work grow very fast, and of exponents of two.
[[nodiscard]] double small_level(std::size_t level);
[[nodiscard]] double exponent_level(std::size_t level);

// The nearest multiple, one at least.
[[nodiscard]] inline double rounded(double value, double unit) {
    return std::max(unit, std::round(value / unit) * unit);
}

// Why there is this level: one phrase.
[[nodiscard]] std::string_view why_level(std::size_t level, bool aligned);

}  // namespace trimtab::profiler
