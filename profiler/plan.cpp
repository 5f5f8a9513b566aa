// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "profiler/active_indices.h"
#include "profiler/arguments.h"

namespace trimtab::profiler {

namespace {

// Ordinary shapes first; a mixture of widths, of sizes, and of what is no power of two.
constexpr std::array<std::array<std::uint32_t, 3>, 8> blocks_1d{
    {{128}, {32}, {256}, {64}, {1024}, {96}, {512}, {160}}};
constexpr std::array<std::array<std::uint32_t, 3>, 16> blocks_2d{{{32, 8},
                                                                  {16, 16},
                                                                  {8, 32},
                                                                  {64, 4},
                                                                  {1, 32},
                                                                  {128, 1},
                                                                  {4, 8},
                                                                  {32, 32},
                                                                  {24, 4},
                                                                  {256, 4},
                                                                  {2, 64},
                                                                  {16, 4},
                                                                  {40, 4},
                                                                  {8, 8},
                                                                  {512, 1},
                                                                  {4, 64}}};
constexpr std::array<std::array<std::uint32_t, 3>, 20> blocks_3d{
    {{32, 4, 2}, {8, 8, 4},   {128, 1, 1}, {4, 4, 8},  {16, 16, 1}, {32, 1, 8},  {2, 16, 4},
     {64, 4, 1}, {1, 32, 1},  {8, 4, 1},   {32, 8, 4}, {1, 1, 32},  {16, 2, 16}, {24, 4, 1},
     {4, 4, 4},  {256, 2, 1}, {1, 8, 16},  {32, 1, 1}, {4, 32, 2},  {64, 2, 2}}};

// An order of blocks that differs from point to point, the same everywhere.
std::uint32_t scrambled(std::size_t block, std::size_t point) {
    std::uint32_t value =
        static_cast<std::uint32_t>(block) * 2654435761u + static_cast<std::uint32_t>(point) * 2246822519u;
    value ^= value >> 15;
    value *= 3266489917u;
    return value ^ value >> 13;
}

}  // namespace

bool Planner::must_divide(std::size_t dimension) const {
    if (annotation_.is_promised()) return false;
    return description_.reads_total(dimension) || description_.verdict == analysis::Verdict::dividing;
}

// Its launches are of whole warps.
bool Planner::of_warps(std::size_t dimension) const {
    return description_.is_of_warps(dimension);
}

bool Planner::is_aligned() const {
    bool aligned = whole_sizes_;
    for (std::size_t d = 0; d < 3; ++d)
        aligned = aligned || (description_.reads(d) && (must_divide(d) || of_warps(d)));
    return aligned;
}

double Planner::value_at(std::size_t parameter, std::size_t level) const {
    const double value = any_value_at(parameter, level), unit = units_[parameter];
    if (unit == 1) return value;
    // What is small stays so, in units.
    return roles_[parameter] == Role::small ? value * unit : std::ceil(value / unit) * unit;
}

double Planner::any_value_at(std::size_t parameter, std::size_t level) const {
    const bool aligned = is_aligned();
    bool total = false;
    for (std::size_t d = 0; d < 3; ++d) total = total || (runs_on(d) && !annotation_.states_grid());
    switch (roles_[parameter]) {
        case Role::extent:
            return level_size(options_, level, aligned) * (dimensions_ == 1 ? of_one_dimension : 1);
        // Where the total is read a thread goes on by it: more work than threads.
        case Role::bound:
            if (annotation_.moves_grid(parameter)) return level_size(options_, level, aligned) * grid_scale_;
            return std::max(1.0, std::floor(level_size(bound_options(), level, aligned && !total) *
                                            thread_factor_ * (total ? 4 : 1) * scales_[parameter]));
        case Role::size: {
            const auto size_at = [&](std::size_t l) {
                return std::max(1.0, std::floor(level_size(options_, l, false) * scales_[parameter]));
            };
            // What an unrolled loop leaves over: 1, 2 and 3 of four.
            return level == four_level ? std::min(size_at(level) + 1, size_at(middle_level)) : size_at(level);
        }
        case Role::part:
            return std::floor(level_size(options_, level, false) * scales_[parameter] / 4);
        case Role::small:
            return std::min(small_level(level), most_[parameter]);
        case Role::exponent:
            return exponent_level(level);
        case Role::pitch:
        case Role::offset:
            return 0;
        case Role::fixed: {
            const auto mode = modes_.find(parameter);
            return mode == modes_.end() ? 1 : mode->second;
        }
    }
    return 0;
}

bool Planner::is_symbol(std::size_t parameter) const {
    switch (roles_[parameter]) {
        case Role::bound:
        case Role::size:
        case Role::part:
        case Role::small:
        case Role::exponent:
            return true;
        case Role::extent:
            return free_extent_[static_cast<std::size_t>(description_.data[parameter].dimension)];
        default:
            return false;
    }
}

// Pitches and extents follow from the rest.
void Planner::finish(std::vector<double>& data) const {
    double widest = product_bound_ ? options_.least : 1;
    for (std::size_t i = 0; i < data.size(); ++i)
        if (is_symbol(i) && roles_[i] != Role::small && roles_[i] != Role::exponent && i != product_bound_)
            widest = std::max(widest, data[i]);
    for (std::size_t i = 0; i < data.size(); ++i)
        if (roles_[i] == Role::pitch) data[i] = std::ceil(widest / units_[i]) * units_[i];
    const auto indices = active_indices(description_, make_arguments(description_, data));
    for (std::size_t d = 0; d < 3; ++d) {
        if (!extents_[d]) continue;
        double& extent = data[*extents_[d]];
        if (!description_.reads(d)) extent = 1;
        if (rows_[d]) extent = std::max(data[*rows_[d]], 1.0);
        if (free_extent_[d] || rows_[d] || !description_.reads(d)) continue;
        if (annotation_.states_grid()) {
            extent = 1;
            continue;
        }
        extent = indices[d].end ? static_cast<double>(*indices[d].end) : value_at(*extents_[d], 0);
        // i < n - 1 is launched for n threads.
        for (std::size_t i = 0; i < data.size(); ++i)
            if (description_.data[i].bounds && static_cast<std::size_t>(*description_.data[i].bounds) == d &&
                data[i] > extent && data[i] <= extent + 8)
                extent = data[i];
        extent = std::max(extent, 1.0);
        if (must_divide(d))
            extent = description_.reads_total(d) ? std::ceil(extent / 32) * 32 : rounded(extent, 32);
        if (of_warps(d)) extent = std::ceil(extent / 32) * 32;
    }
    if (!annotation_.states_grid()) return;
    // As some block would have been written.
    const std::vector<trimtab_dim3> blocks = blocks_at(data);
    if (blocks.empty()) return;
    const auto launch = annotation_.launch(data, extent_of(data), blocks[0]);
    const std::vector<double> written = analysis::data_of_launch(description_, data, *launch);
    for (std::size_t d = 0; d < 3; ++d)
        if (extents_[d] && !free_extent_[d] && !rows_[d]) data[*extents_[d]] = written[*extents_[d]];
}

std::vector<double> Planner::data_at(std::size_t level) const {
    std::vector<double> data(roles_.size());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = value_at(i, level);
    finish(data);
    return data;
}

std::vector<double> Planner::with(std::vector<double> data, std::size_t parameter, double value) const {
    data[parameter] = value;
    const Role role = roles_[parameter];
    finish(data);
    if (role == Role::pitch) data[parameter] = value;
    return data;
}

trimtab_dim3 Planner::extent_of(const std::vector<double>& data) const {
    std::array<std::uint32_t, 3> extent{1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d)
        if (extents_[d] && description_.reads(d)) extent[d] = static_cast<std::uint32_t>(data[*extents_[d]]);
    return {extent[0], extent[1], extent[2]};
}

std::vector<std::size_t> Planner::free_dimensions() const {
    std::vector<std::size_t> free;
    for (std::size_t d = 0; d < 3; ++d)
        if (description_.varies(d)) free.push_back(d);
    return free;
}

std::uint32_t Planner::most_threads() const {
    std::uint32_t most = 1024;
    for (const analysis::KernelImage& image : description_.images)
        if (image.max_threads != 0) most = std::min(most, image.max_threads);
    return most;
}

// An ordinary one first.
std::vector<trimtab_dim3> Planner::annotated_blocks(const std::vector<double>& data,
                                                    const trimtab_dim3& extent) const {
    constexpr std::size_t most_blocks = 12;
    std::vector<trimtab_dim3> blocks =
        annotation_.blocks(data, extent, free_dimensions(), most_threads(), most_blocks);
    std::erase_if(blocks, [&](const trimtab_dim3& block) {
        return (must_divide(0) && extent.x % block.x != 0) || (must_divide(1) && extent.y % block.y != 0) ||
               (must_divide(2) && extent.z % block.z != 0);
    });
    const auto ordinary = std::ranges::find_if(
        blocks, [](const trimtab_dim3& block) { return block.x * block.y * block.z >= 128; });
    if (ordinary != blocks.end()) std::rotate(blocks.begin(), ordinary, ordinary + 1);
    return blocks;
}

std::vector<trimtab_dim3> Planner::blocks_at(const std::vector<double>& data) const {
    constexpr std::size_t enough = 5;
    const trimtab_dim3 extents = extent_of(data);
    const std::array<std::uint32_t, 3> extent{extents.x, extents.y, extents.z};
    const std::vector<std::size_t> free = free_dimensions();
    std::vector<trimtab_dim3> out;
    const auto offer = [&](const std::array<std::uint32_t, 3>& shape) {
        std::array<std::uint32_t, 3> block{1, 1, 1};
        std::uint32_t threads = 1;
        for (std::size_t n = 0; n < free.size(); ++n) {
            const std::size_t d = free[n];
            block[d] = std::max(1u, shape[n]);
            threads *= block[d];
            if (must_divide(d) && extent[d] % block[d] != 0) return;
            if (block[d] >= 4 * extent[d] && block[d] > 32 && !annotation_.states_grid()) return;
        }
        if (threads > most_threads() || threads < description_.least_threads || block[2] > 64) return;
        const trimtab_dim3 offered{block[0], block[1], block[2]};
        if (!annotation_.is_annotated() || annotation_.launch(data, extents, offered)) out.push_back(offered);
    };
    if (free.size() == 1) std::ranges::for_each(blocks_1d, offer);
    if (free.size() == 2) std::ranges::for_each(blocks_2d, offer);
    if (free.size() == 3) std::ranges::for_each(blocks_3d, offer);
    if (annotation_.is_annotated() && out.size() < enough) return annotated_blocks(data, extents);
    return out;
}

std::optional<PlannedPoint> Planner::point(const std::vector<double>& data, const trimtab_dim3& block) const {
    PlannedPoint point{.data = data, .extent = extent_of(data), .block = block};
    if (!annotation_.is_annotated()) return point;
    const auto launch = annotation_.launch(data, point.extent, block);
    if (!launch) return std::nullopt;
    point.dynamic_shared_bytes = static_cast<std::uint32_t>(launch->dynamic_shared_bytes);
    if (!annotation_.states_grid()) return point;
    point.data = analysis::data_of_launch(description_, data, *launch);
    point.extent = extent_of(point.data);
    return point;
}

std::vector<PlanLevel> Planner::levels() const {
    std::vector<PlanLevel> out;
    for (std::size_t level = 0; level < level_count; ++level)
        out.push_back({.data = data_at(level),
                       .held_out = level >= first_held_out_level,
                       .why = std::string(why_level(level, is_aligned()))});
    return out;
}

// Together, then one apart from the others, then mixtures; the last ones, from `held_out_from` on, are the
// largest.
std::vector<std::vector<double>> Planner::data_points(std::size_t& held_out_from) const {
    // Whole warps and what is none in turn.
    constexpr std::array<std::size_t, first_held_out_level> mixture{
        least_level, quarter_level, middle_level, three_quarters_level, four_level, two_level, odd_level};
    std::vector<std::size_t> symbols;
    for (std::size_t i = 0; i < roles_.size(); ++i)
        if (is_symbol(i)) symbols.push_back(i);
    std::vector<std::vector<double>> points;
    const auto add = [&](const std::vector<std::size_t>& levels) {
        std::vector<double> data = data_at(0);
        for (std::size_t s = 0; s < symbols.size(); ++s) data[symbols[s]] = value_at(symbols[s], levels[s]);
        finish(data);
        if (std::ranges::find(points, data) == points.end()) points.push_back(std::move(data));
    };
    const auto together = [&](std::size_t level) { add(std::vector<std::size_t>(symbols.size(), level)); };
    together(least_level);
    together(middle_level);
    if (symbols.size() <= 1) {
        for (const std::size_t level :
             {quarter_level, three_quarters_level, four_level, two_level, odd_level})
            together(level);
    } else {
        if (symbols.size() == 2) together(four_level);
        for (std::size_t s = 0; s < symbols.size() && s < 5; ++s)
            for (const std::size_t level : {middle_level, s % 2 == 0 ? four_level : two_level, odd_level}) {
                std::vector<std::size_t> levels(symbols.size(), 0);
                levels[s] = level;
                add(levels);
            }
        for (std::size_t n = 0; n < 4; ++n) {
            std::vector<std::size_t> levels;
            for (std::size_t s = 0; s < symbols.size(); ++s)
                levels.push_back(mixture[(2 * n + 3 * s + 1) % mixture.size()]);
            add(levels);
        }
    }
    // A trip count may be below the sizes of the arrays.
    for (const std::size_t symbol : symbols) {
        if (roles_[symbol] != Role::size || symbols.size() > 6) continue;
        std::vector<double> data = with(data_at(quarter_level), symbol, std::floor(options_.least / 2.0));
        if (std::ranges::find(points, data) == points.end()) points.push_back(std::move(data));
    }
    held_out_from = points.size();
    together(most_level);
    together(first_held_out_level);
    return points;
}

std::vector<PlannedPoint> Planner::points() const {
    std::vector<PlannedPoint> out;
    std::size_t first_held_out = 0, held_out_from = 0;
    const std::vector<std::vector<double>> data = data_points(first_held_out);
    add_points(data, first_held_out, out);
    for (const Layout& layout : layouts_) {
        const std::vector<std::vector<double>> others = layout_data(layout, held_out_from);
        add_points(others, held_out_from, out);
    }
    for (const Layout& values : special_) {
        held_out_from = first_held_out;
        const std::vector<std::vector<double>> others = data_with(data, values, held_out_from);
        add_points(others, held_out_from, out);
    }
    add_few(out);
    add_widths(out);
    return out;
}

void Planner::add_widths(std::vector<PlannedPoint>& out) const {
    for (const auto& [width, least] : widths_)
        for (const std::size_t level : {least_level, middle_level}) {
            const std::vector<double> data = with(data_at(level), width, least);
            for (const trimtab_dim3& block : blocks_at(data))
                if (auto next = point(data, block)) out.push_back(std::move(*next));
        }
}

// Rows of a few elements share sectors, as those of a large array do not: such points tell of counts alone.
void Planner::add_few(std::vector<PlannedPoint>& out) const {
    constexpr std::size_t most_blocks = 3;
    constexpr double past_colours = 5;  // the least of a width that is not profiled by itself
    const auto few_at = [&](std::size_t i) { return widths_.contains(i) ? past_colours : few_iterations; };
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < counts_.size(); ++i)
        if (counts_[i]) all.push_back(with(data_at(quarter_level), i, few_at(i)));
    // The loops of a filter lie in each other.
    if (all.size() > 1) {
        std::vector<double> together = data_at(quarter_level);
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (counts_[i]) together = with(std::move(together), i, few_at(i));
        all.push_back(std::move(together));
    }
    for (const std::vector<double>& data : all) {
        const std::vector<trimtab_dim3> blocks = blocks_at(data);
        for (std::size_t b = 0; b < std::min(blocks.size(), most_blocks); ++b)
            if (auto next = point(data, blocks[b])) {
                next->counts_alone = true;
                out.push_back(std::move(*next));
            }
    }
}

void Planner::add_points(const std::vector<std::vector<double>>& data, std::size_t held_out_from,
                         std::vector<PlannedPoint>& out) const {
    const bool few = data.size() <= 9;  // one size: more blocks for each
    std::size_t counted = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const std::vector<trimtab_dim3> blocks = blocks_at(data[i]);
        const std::size_t count = blocks.size(),
                          kept = i < 2 || count < 8 ? count : (few ? count * 10 : count * 7) / 16 + 1;
        std::vector<std::size_t> order(count);
        for (std::size_t b = 0; b < count; ++b) order[b] = b;
        std::ranges::sort(order, {}, [&](std::size_t b) { return std::pair(scrambled(b, i), b); });
        order.resize(std::min(kept, count));
        std::ranges::sort(order);
        for (const std::size_t b : order) {
            auto next = point(data[i], blocks[b]);
            if (!next) continue;
            next->held_out = i >= held_out_from || counted % 6 == 5;
            next->boxes = b == 0 && (i < 2 || i == held_out_from);
            ++counted;
            out.push_back(std::move(*next));
        }
    }
}

}  // namespace trimtab::profiler
