// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/plan_levels.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trimtab::profiler {
namespace {

// A size lies `share` of the way from the least to the most, by its logarithm, rounded to `multiple` (0: to whole
// warps), and `past` that.
struct Level {
    double share = 0;
    unsigned multiple = 0;
    int past = 0;
    std::string_view why;
};
constexpr std::array<Level, level_count> levels{{
    {0, 1, 0, "the least that is asked for"},
    {0.25, 0, 0, "a quarter of the way, in whole warps"},
    {0.32, 8, -4, "a multiple of 4 and of no warp: the last warp of a row is filled in part"},
    {0.5, 0, 0, "in the middle, in whole warps"},
    {0.6, 8, 2, "a multiple of 2 alone: rows begin in the midst of a sector"},
    {0.75, 0, 0, "three quarters of the way, in whole warps"},
    {0.82, 8, -1, "odd: no two rows are aligned alike"},
    {1, 1, -6, "held out: near the most, and of no warp"},
    {1, 1, 0, "held out: the most that is asked for; sizes of launches lie beyond it"},
}};
// Where every launch is of whole warps the levels between are spread evenly.
constexpr std::array<Level, level_count> whole_levels{{
    {0, 0, 0, "the least that is asked for"},
    {0.25, 0, 0, "a quarter of the way: all launches are of whole warps"},
    {0.4, 0, 0, "two fifths of the way: all launches are of whole warps"},
    {0.5, 0, 0, "in the middle: all launches are of whole warps"},
    {0.66, 0, 0, "two thirds of the way: all launches are of whole warps"},
    {0.75, 0, 0, "three quarters of the way: all launches are of whole warps"},
    {0.9, 0, 0, "nine tenths of the way: all launches are of whole warps"},
    {0.95, 0, 0, "held out: next to the most"},
    {1, 0, 0, "held out: the most that is asked for; sizes of launches lie beyond it"},
}};
constexpr std::array<double, level_count> small_values{1, 2, 3, 4, 5, 6, 7, 8, 8};
constexpr std::array<double, level_count> exponent_values{6, 7, 7, 8, 8, 9, 9, 9, 10};

// `before`: the size of the level below. Of a narrow range two levels may round past each other: the upper one is
// then the next of its kind, or as the lower one where that would be among those that are held out.
double size_of(const PlanOptions& options, const Level& level, double before) {
    const double least = options.least, most = std::max(options.most, options.least);
    const double whole_warps = least >= 64 ? 32 : 8;
    const double unit = level.multiple == 0 ? whole_warps : level.multiple;
    const double size = rounded(least * std::pow(most / least, level.share), unit) + level.past;
    if (size >= before) return size;
    return unit > 1 && size + unit >= before && size + unit < most - 6 ? size + unit : before;
}

}  // namespace

double level_size(const PlanOptions& options, std::size_t level, bool aligned) {
    const auto& table = aligned ? whole_levels : levels;
    double size = 0;
    for (std::size_t l = 0; l <= level; ++l) size = size_of(options, table[l], size);
    return size;
}

double small_level(std::size_t level) {
    return small_values[level];
}
double exponent_level(std::size_t level) {
    return exponent_values[level];
}

std::string_view why_level(std::size_t level, bool aligned) {
    return (aligned ? whole_levels : levels)[level].why;
}

}  // namespace trimtab::profiler
