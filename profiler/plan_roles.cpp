// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each parameter is to a plan, as the description tells, and how large those are that set how many threads there are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/analysis/launches/coarsened.h"
#include "profiler/active_indices.h"
#include "profiler/arguments.h"
#include "profiler/plan.h"

namespace trimtab::profiler {

namespace {

using analysis::DataParameter;
using analysis::KernelDescription;

constexpr double smallest_size = 16;

// Radii and steps are a few where arrays are large.
constexpr double of_count = 1.0 / 8;

}  // namespace

Planner::Planner(const KernelDescription& description, const PlanOptions& options)
    : description_(description),
      annotation_(description),
      options_(options),
      roles_(description.data.size(), Role::size),
      scales_(description.data.size(), 1),
      units_(description.data.size(), 1),
      most_(description.data.size(), std::numeric_limits<double>::infinity()),
      counts_(description.data.size(), false) {
    for (std::size_t d = 0; d < 3; ++d) dimensions_ += description.reads(d) ? 1 : 0;
    if (dimensions_ == 1) thread_factor_ = of_one_dimension;
    for (std::size_t i = 0; i < description.data.size(); ++i) {
        const DataParameter& parameter = description.data[i];
        if (parameter.is_extent) {
            roles_[i] = Role::extent;
            extents_[static_cast<std::size_t>(parameter.dimension)] = i;
        } else if (!is_integer_type(parameter.type)) {
            roles_[i] = Role::fixed;
        } else if (!parameter.in_memo) {
            roles_[i] = Role::offset;
        } else if (parameter.coarse_in_memo) {
            roles_[i] = Role::part;
        }
        if (annotation_.moves_grid(i) && roles_[i] == Role::size) roles_[i] = Role::bound;
        if (parameter.counts && roles_[i] == Role::size) scales_[i] = of_count;
    }
    find_bounds();
    set_thread_factor();
    scale_bound_of_product();
    if (annotation_.is_annotated()) set_grid_scale();
}

// Which parameters move the guards, and which dimensions no guard bounds. The product of many sizes (n * c * h * w) bounds
// no index that is looked at, unless they are small.
void Planner::find_bounds() {
    const PlanOptions usual = options_;
    while (!is_bounded() && options_.least > few_iterations) options_.least /= 2;
    if (!is_bounded()) options_ = usual;
    options_.most = std::max(options_.least, std::min(options_.most, 4 * options_.least));
    const auto indices = [&](const std::vector<double>& data) {
        return active_indices(description_, make_arguments(description_, data));
    };
    const auto same = [](const std::array<Indices, 3>& a, const std::array<Indices, 3>& b) {
        return std::ranges::equal(
            a, b, [](const Indices& l, const Indices& r) { return l.first == r.first && l.end == r.end; });
    };
    std::vector<double> base(description_.data.size());
    for (std::size_t i = 0; i < base.size(); ++i) base[i] = value_at(i, 0);
    const auto before = indices(base);
    for (std::size_t i = 0; i < base.size(); ++i) {
        if (roles_[i] != Role::size && roles_[i] != Role::part) continue;
        std::vector<double> changed = base;
        changed[i] = value_at(i, middle_level);
        if (roles_[i] == Role::size && (description_.data[i].bounds || !same(before, indices(changed))))
            roles_[i] = Role::bound;
        // Four more make sixteen times as many indices: 1 << n.
        std::vector<double> few = base, more = base;
        few[i] = 4;
        more[i] = 8;
        const auto at_few = indices(few), at_more = indices(more);
        for (std::size_t d = 0; d < 3; ++d)
            if (at_few[d].end && at_more[d].end && *at_more[d].end >= 12 * *at_few[d].end)
                roles_[i] = Role::exponent;
    }
    for (std::size_t i = 0; i < base.size(); ++i) base[i] = value_at(i, 0);
    const auto bounded = indices(base);
    for (std::size_t d = 0; d < 3; ++d)
        free_extent_[d] =
            description_.reads(d) && extents_[d] &&
            (annotation_.states_grid() ? annotation_.reads_extent(d) : !bounded[d].end || runs_on(d));
    options_ = usual;
}

// Do the guards bound the indices, where they look at them at all?
bool Planner::is_bounded() const {
    std::vector<double> data(description_.data.size());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = value_at(i, least_level);
    const auto indices = active_indices(description_, make_arguments(description_, data));
    return std::ranges::all_of(description_.guards, [&](const analysis::Guard& guard) {
        return indices[static_cast<std::size_t>(guard.dimension)].end.has_value();
    });
}

// None where the guards bound them nowhere near.
std::optional<double> Planner::threads_at(std::size_t level) const {
    const std::vector<double> data = data_at(level);
    const auto indices = active_indices(description_, make_arguments(description_, data));
    for (std::size_t d = 0; d < 3; ++d)
        if (description_.reads(d) && extents_[d] && !free_extent_[d] && !indices[d].end) return std::nullopt;
    const trimtab_dim3 extent = extent_of(data);
    return double(extent.x) * extent.y * extent.z;
}

// What is planned are threads. Those of one dimension are four times as many as its size, unless the guard asks for more
// than one for each of it: rows of 64 then have them at once. Where they grow faster than the size does (a thread for each
// pair), launches of few threads are those of small sizes, below the least that would be asked for otherwise.
void Planner::set_thread_factor() {
    // Where extents are sizes of their own, no guard makes them of others.
    if (dimensions_ != 1 || annotation_.states_grid() ||
        std::ranges::find(free_extent_, true) != free_extent_.end())
        return;
    constexpr double faster = 1.5;
    const double wanted = of_one_dimension * options_.least;
    const auto threads = [&](std::size_t level) {
        return threads_at(level).value_or(std::numeric_limits<double>::infinity());
    };
    thread_factor_ = 1;
    // One thread may do the work of several.
    const auto made = analysis::coarsening(description_);
    const double most = of_one_dimension * (made ? made->elements : 1);
    while (thread_factor_ < most && threads(least_level) < wanted) thread_factor_ *= 2;
    const auto grows = [&] {
        return threads(most_level) >
               std::pow(double(options_.most) / bound_options().least, faster) * threads(least_level);
    };
    if (options_.most <= options_.least || !(grows() || !threads_at(least_level))) return;
    while (bound_options().least >= 2 * smallest_size && threads(least_level) >= 4 * wanted)
        bound_spread_ *= 2;
    // Beyond some size there are too many, or the guard's arithmetic overflows.
    const auto is_known = [&] {
        double before = 0;
        for (std::size_t level = 0; level < level_count; ++level) {
            const auto now = threads_at(level);
            if (!now || *now < before) return false;
            before = *now;
        }
        return true;
    };
    if (is_known()) return;
    const std::uint32_t least = bound_options().least;
    bound_most_ = least;
    while (2 * bound_most_ <= options_.most) {
        bound_most_ *= 2;
        if (is_known()) continue;
        bound_most_ /= 2;
        return;
    }
}

// Indices are taken apart by dimensions (i % w, i / w % h): their bound is the product of these and of others, whatever it
// is called.
void Planner::scale_bound_of_product() {
    constexpr double others = 16, most = 1 << 22;
    double product = 1;
    std::vector<std::size_t> bounds;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
        if (roles_[i] == Role::bound) bounds.push_back(i);
        if (description_.data[i].divides && (roles_[i] == Role::size || roles_[i] == Role::part))
            product *= value_at(i, least_level);
    }
    if (dimensions_ != 1 || bounds.size() != 1 || description_.data[bounds[0]].divides || product == 1)
        return;
    const double least = value_at(bounds[0], least_level),
                 share = std::min(others * product / least, most / value_at(bounds[0], most_level));
    scales_[bounds[0]] *= std::max(1.0, std::floor(share));
    product_bound_ = bounds[0];
}

// Does a thread go on by the launch's threads? Not where a choice is legal only if none does.
bool Planner::runs_on(std::size_t dimension) const {
    return description_.reads_total(dimension) && !description_.needs_one_iteration_a_thread;
}

PlanOptions Planner::bound_options() const {
    const auto least = static_cast<std::uint32_t>(
        std::max(std::min<double>(options_.least, smallest_size), options_.least / bound_spread_));
    return {.least = least, .most = std::max(least, std::min(options_.most, bound_most_))};
}

// Where the grid is stated, sizes are such that even large blocks are several, and in one dimension whole;
// sizes at which few blocks are allowed (n % bx == 0) tell little.
void Planner::set_grid_scale() {
    constexpr double most_scale = 1024, least_blocks = 4;
    const double least = dimensions_ == 1 ? 4 : 1;
    const auto blocks_of_largest = [&] {
        const std::vector<double> data = data_at(0);
        const std::vector<trimtab_dim3> blocks = blocks_at(data);
        if (blocks.empty()) return 0.0;
        const auto largest =
            std::ranges::max_element(blocks, {}, [](const trimtab_dim3& b) { return b.x * b.y * b.z; });
        const auto launch = annotation_.launch(data, extent_of(data), *largest);
        return launch ? double(launch->grid.x) * launch->grid.y * launch->grid.z : 0.0;
    };
    grid_scale_ = least;
    if (annotation_.states_grid()) {
        while (grid_scale_ < most_scale && blocks_of_largest() < least_blocks) grid_scale_ *= 2;
        if (blocks_of_largest() < least_blocks) grid_scale_ = least;
    }
    // A block that is filled in part is one of very many at the sizes of a launch, and one of few here.
    whole_sizes_ = (dimensions_ == 1 && annotation_.states_grid()) ||
                   2 * blocks_at(data_at(four_level)).size() < blocks_at(data_at(0)).size();
}

bool Planner::set_rows(std::size_t dimension, std::size_t data) {
    if (!description_.grid_stays(dimension) || !free_extent_[dimension]) return false;
    free_extent_[dimension] = false;
    rows_[dimension] = data;
    return true;
}

bool Planner::shrink_bounds() {
    if (bound_options().least >= 2 * smallest_size)
        bound_spread_ *= 2;
    else if (thread_factor_ > 1)
        thread_factor_ /= 2;
    else
        return false;
    bound_most_ = 4 * bound_options().least;
    return true;
}

bool Planner::halve_sizes() {
    if (options_.least < 2 * smallest_size) return false;
    options_.least /= 2;
    options_.most = std::max(options_.least, options_.most / 2);
    return true;
}

}  // namespace trimtab::profiler
