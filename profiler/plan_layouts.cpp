// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Points at which some arguments have values of their own. Where strides are 1, what requests touch is another function of
// the sizes; where a flag is 0, all is.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "profiler/plan.h"

namespace trimtab::profiler {

std::vector<double> Planner::apart(std::vector<double> data, double alignment) const {
    // Primes beyond what a block is wide: no two of its threads meet along two of them.
    constexpr std::array<double, 6> spread{257, 2053, 641, 4099, 389, 1543};
    const double widest = *std::ranges::max_element(data);
    std::size_t pitches = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (roles_[i] != Role::pitch) continue;
        const double least = widest * spread[pitches++ % spread.size()];
        data[i] = (2 * std::ceil(least / alignment / 2) + 1) * alignment * units_[i];
    }
    return data;
}

// Fewer of them: what the sizes do to what a warp executes is known from the others.
std::vector<std::vector<double>> Planner::layout_data(const Layout& layout,
                                                      std::size_t& held_out_from) const {
    constexpr std::array<double, 5> alignments{32, 1, 4, 2, 8};  // whatever the sizes are
    std::vector<std::vector<double>> points;
    const auto add = [&](const std::vector<double>& sizes) {
        std::vector<double> data = apart(sizes, alignments[points.size()]);
        for (const SpecialValue& stride : layout) data[stride.data] = stride.value;
        points.push_back(std::move(data));
    };
    for (const std::size_t level : {middle_level, two_level, odd_level}) add(data_at(level));
    std::size_t symbol = 0;
    while (symbol < roles_.size() &&
           (!is_symbol(symbol) || std::ranges::find(layout, symbol, &SpecialValue::data) != layout.end()))
        ++symbol;
    if (symbol < roles_.size()) add(with(data_at(least_level), symbol, value_at(symbol, middle_level)));
    held_out_from = points.size();
    add(data_at(most_level));
    return points;
}

std::vector<std::vector<double>> Planner::data_with(const std::vector<std::vector<double>>& data,
                                                    const Layout& values, std::size_t& held_out_from) const {
    std::vector<std::vector<double>> points;
    std::size_t seen = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        std::vector<double> own = data[i];
        for (const SpecialValue& special : values) own = with(std::move(own), special.data, special.value);
        if (std::ranges::find(points, own) == points.end()) points.push_back(std::move(own));
        if (i + 1 == held_out_from) seen = points.size();
    }
    held_out_from = seen;
    return points;
}

bool Planner::drop_special() {
    if (special_.empty()) return false;
    special_.pop_back();
    return true;
}

bool Planner::drop_layout() {
    if (layouts_.empty()) return false;
    layouts_.pop_back();
    return true;
}

}  // namespace trimtab::profiler
