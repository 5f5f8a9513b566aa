// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <cmath>
#include <utility>

#include "profiler/arguments.h"
#include "profiler/kernel_profiler.h"
#include "profiler/strides.h"

namespace trimtab::profiler {

namespace {

using model::Metric;

// Of the budget: a probe that runs more is so dear that the points of a whole plan could not be paid.
constexpr double dear_share = 1.0 / 8;

// Strides that are no array's width: of coordinates and colours.
constexpr std::array colours{2.0, 3.0, 4.0};
constexpr double sector_bytes = 32;  // of every GPU that there is

// Of a warp whose lanes go different ways, only those that do something count.
double lane_work(const Measurement& measured) {
    return value(measured, Metric::warp_instructions) * std::max(1.0, value(measured, Metric::active_lanes));
}

}  // namespace

// A block for each row, and none of them past the last row: where such a grid were a size of its own, most blocks would have
// nothing to do, as those of no program have.
void KernelProfiler::find_rows() {
    constexpr double blocks = 8, same = 1e-6, all_warps = 1024;
    for (std::size_t extent = 0; extent < description_.data.size(); ++extent) {
        if (!description_.data[extent].is_extent) continue;
        const auto d = static_cast<std::size_t>(description_.data[extent].dimension);
        if (!description_.grid_stays(d)) continue;
        const std::vector<double> base = planner_.with(planner_.data_at(0), extent, blocks);
        const auto active_at = [&](std::size_t i, double rows) {
            const std::vector<double> data = planner_.with(base, i, rows);
            const std::vector<trimtab_dim3> legal = planner_.blocks_at(data);
            if (legal.empty()) return 0.0;
            const Measured measured = measure(*planner_.point(data, legal[0]), all_warps, nullptr, 0);
            return measured ? value(*measured, Metric::active_blocks) : 0.0;
        };
        for (std::size_t i = 0; i < base.size(); ++i) {
            const Role role = planner_.roles()[i];
            if (role != Role::size && role != Role::part) continue;
            const double all = active_at(i, blocks);
            const auto is_share = [&](double rows) {
                return std::abs(active_at(i, rows) - all * rows / blocks) <= same * all;
            };
            if (all > 0 && is_share(blocks / 2) && is_share(blocks - 1) && planner_.set_rows(d, i)) break;
        }
    }
}

// Threads of a block, or of the launch, may share a size among them: a row of `cols`, by strides of blockDim.
// Below one element a thread it tells nothing: such a size starts where the work of the widest block grows
// with it.
void KernelProfiler::find_scales() {
    constexpr double grows = 1.3;
    constexpr int most_scale = 1 << 18;
    const auto work_at = [&](const std::vector<double>& data) {
        const std::vector<trimtab_dim3> blocks = planner_.blocks_at(data);
        if (blocks.empty()) return 0.0;
        const auto widest =
            std::ranges::max_element(blocks, {}, [](const trimtab_dim3& b) { return b.x * b.y * b.z; });
        const auto point = planner_.point(data, *widest);
        const Measured measured = point ? measure(*point, probe_warps, nullptr, 0) : Measured();
        return measured ? value(*measured, Metric::warp_instructions) : 0.0;
    };
    const std::vector<double> base = planner_.data_at(0);
    for (std::size_t i = 0; i < base.size(); ++i) {
        if (planner_.roles()[i] != Role::size || planner_.sets_rows(i)) continue;
        double before = work_at(base);
        int scale = 1;
        for (; scale < most_scale; scale *= 2) {
            const double after = work_at(planner_.with(base, i, 2 * scale * base[i]));
            if (before == 0 || after == 0 || after > grows * before) break;
            before = after;
        }
        // Some rounds beyond: the work of a whole number of them is linear in the size.
        if (scale < most_scale && scale > 1 && before != 0) planner_.set_scale(i, 4 * scale);
    }
}

// Sizes that each thread counts to by itself: its work shrinks with them. What threads share among them is none of these:
// of a few, most threads would have nothing, and tell nothing of larger launches.
void KernelProfiler::find_counts() {
    constexpr double shrinks = 1.3;
    const std::vector<double> base = planner_.data_at(quarter_level);
    const Measured before = probe(base);
    if (!before) return;
    for (std::size_t i = 0; i < base.size(); ++i) {
        const Role role = planner_.roles()[i];
        if ((role != Role::size && role != Role::part) || planner_.scale(i) > 1) continue;
        if (base[i] <= few_iterations) continue;
        const Measured few = probe(planner_.with(base, i, few_iterations));
        if (few && value(*few, Metric::active_blocks) > 0 &&
            value(*before, Metric::warp_instructions) > shrinks * value(*few, Metric::warp_instructions))
            planner_.set_count(i);
    }
}

void KernelProfiler::find_layouts() {
    const Probe probe_layout = [&](const std::vector<double>& data) -> std::expected<Probed, MeasureError> {
        const std::vector<trimtab_dim3> blocks = planner_.blocks_at(data);
        const auto measured = probe(data);
        if (!measured) return std::unexpected(measured.error());
        return Probed{.measurement = *measured, .threads = double(blocks[0].x) * blocks[0].y * blocks[0].z};
    };
    const std::vector<double> base = planner_.apart(planner_.data_at(0), 32);
    const Strides strides = find_strides(planner_, base, probe_layout);
    profile_.strides = strides.all;
    std::vector<Planner::Layout> layouts = usual_layouts(profile_.strides, base, probe_layout);
    // From a sector on rows of threads lie apart as long ones do.
    const std::vector<std::uint32_t> bytes = element_bytes(description_);
    const double elements = bytes.empty() ? 0 : std::ceil(sector_bytes / std::ranges::min(bytes));
    for (const std::uint32_t width : strides.widths)
        if (elements > 1 && elements <= base[width]) planner_.set_width(width, elements);
    const double end = planner_.has_widths() ? std::min(elements, colours.back() + 1) : colours.back() + 1;
    // Points in a plane or in space, colours: their coordinates lie side by side. Rows of so few elements are a thread's each
    // in kernels of one dimension; in others each value costs too many points.
    const bool may_be_few = !planner_.has_widths() || planner_.is_of_one_dimension();
    if (profile_.strides.size() == 1 && base[profile_.strides[0]] > colours.back() && may_be_few)
        for (const double few : colours) {
            if (few >= end) break;
            profile_.special.push_back({.data = profile_.strides[0], .value = few});
            layouts.push_back({profile_.special.back()});
        }
    planner_.set_layouts(std::move(layouts));
}

// Flags and modes: the kernel does something else at a few small values, and the same at all others.
void KernelProfiler::find_special() {
    constexpr std::size_t most_values = 3, most_together = 5;
    // Of a size: what may be a mode's number, and what must be like any other one, if no code tests for it.
    constexpr std::array small_modes{0.0, 1.0, 2.0, 3.0}, others{16.0, 4.0, 5.0, 8.0};
    const std::vector<double> base = planner_.data_at(0);
    const Measured before = probe(base);
    if (!before) return;
    std::vector<SpecialValue> special;
    for (std::uint32_t i = 0; i < base.size(); ++i) {
        const Role role = planner_.roles()[i];
        if (description_.data[i].is_extent || (role != Role::size && role != Role::fixed)) continue;
        const auto work_at = [&](double value) { return probe(planner_.with(base, i, value)); };
        const auto is_alike = [&](double value) {
            const Measured changed = work_at(value);
            return changed && !do_other_work(*changed, *before);
        };
        const auto is_special = [&](double value) {
            const Measured changed = work_at(value);
            return changed && do_other_work(*changed, *before);
        };
        const std::vector<std::uint32_t>& compared = description_.data[i].compared;
        const auto is_tested = [&](double value) {
            return std::ranges::find(compared, value) != compared.end();
        };
        std::vector<SpecialValue> found;
        if (role == Role::fixed && planner_.has_mode(i)) {
            for (const double mode : compared)
                if (mode != base[i] && is_special(mode)) found.push_back({.data = i, .value = mode});
        } else if (role == Role::fixed) {
            if (!matters_[i]) continue;
            // Of a number: what it scales is left out where it is 0.
            const Measured at_zero = work_at(0);
            if (at_zero && do_other_work(*at_zero, *before) &&
                (!is_float_type(description_.data[i].type) ||
                 value(*at_zero, Metric::warp_instructions) < value(*before, Metric::warp_instructions)))
                found.push_back({.data = i, .value = 0});
        } else if (is_alike(2 * base[i]) && std::ranges::all_of(others, [&](double value) {
                       return is_tested(value) || is_alike(value);
                   })) {
            std::vector<double> modes(small_modes.begin(), small_modes.end());
            modes.insert(modes.end(), compared.begin(), compared.end());
            for (const double mode : modes)
                if (is_special(mode)) found.push_back({.data = i, .value = mode});
        }
        if (found.size() <= most_values) special.insert(special.end(), found.begin(), found.end());
    }
    profile_.special.insert(profile_.special.end(), special.begin(), special.end());
    std::ranges::sort(profile_.special);
    // One of an argument's values, alone and with those of other arguments.
    std::vector<Planner::Layout> all{{}};
    std::size_t without_this = 1;
    for (std::size_t s = 0; s < special.size(); ++s) {
        if (s > 0 && special[s].data != special[s - 1].data) without_this = all.size();
        for (std::size_t k = 0; k < without_this; ++k) {
            all.push_back(all[k]);
            all.back().push_back(special[s]);
        }
    }
    std::ranges::sort(all, {},
                      [](const Planner::Layout& values) { return std::pair(values.size(), values); });
    all.erase(all.begin());
    if (all.size() > most_together) all.resize(most_together);
    planner_.set_special(std::move(all));
}

// The stride of a filter, its dilation or padding: where they are large, most threads find nothing to do, and those of two
// dimensions may have to be small together. All are small at first; what does not take work away becomes large again.
void KernelProfiler::find_steps() {
    constexpr double few = 2, more_work = 1.5;
    const std::vector<double> base = planner_.data_at(0);
    std::vector<std::size_t> steps;
    std::vector<double> data = base;
    for (std::size_t i = 0; i < base.size(); ++i)
        if (planner_.roles()[i] == Role::size && !description_.data[i].divides && base[i] > few) {
            steps.push_back(i);
            data = planner_.with(std::move(data), i, few);
        }
    Measured work = probe(data);
    if (!work) return;
    // First those that bring work: of an array of two rows a filter's stride takes nothing away.
    for (const double least_gain : {more_work, 1 / more_work})
        for (std::size_t before = steps.size() + 1; steps.size() < before;) {
            before = steps.size();
            std::erase_if(steps, [&](std::size_t i) {
                const std::vector<double> larger = planner_.with(data, i, base[i]);
                const Measured changed = probe(larger);
                if (!changed || value(*changed, Metric::active_blocks) == 0) return false;
                const double lanes = lane_work(*changed) / lane_work(*work),
                             loads = (1 + value(*changed, Metric::load_requests)) /
                                     (1 + value(*work, Metric::load_requests));
                if (least_gain > 1 ? std::max(lanes, loads) < least_gain
                                   : std::min(lanes, loads) < least_gain)
                    return false;
                data = larger;
                work = changed;
                return true;
            });
        }
    for (const std::size_t i : steps) planner_.set_role(i, Role::small);
}

// What does each parameter do to a few blocks? A parameter that makes work grow beyond all measure is kept
// small; one that changes addresses alone is a pitch; a flag that changes nothing is free.
std::expected<void, Error> KernelProfiler::find_roles() {
    // Where a size is doubled: more than linear, as a filter's width is in two dimensions.
    constexpr double most_growth = 3.3;
    matters_.assign(description_.data.size(), false);
    same_work_.assign(description_.data.size(), {});
    std::vector<double> base = planner_.data_at(0);
    Measured before = probe(base);
    for (std::size_t i = 0; i < base.size() && !before && before.error().limit; ++i) {
        if (planner_.roles()[i] != Role::size) continue;
        planner_.set_role(i, Role::small);
        before = probe(planner_.data_at(0));
        if (!before) continue;
        // This one was it; those before it were not.
        for (std::size_t earlier = 0; earlier < i; ++earlier)
            if (planner_.roles()[earlier] == Role::small) planner_.set_role(earlier, Role::size);
        before = probe(planner_.data_at(0));
        if (!before) return std::unexpected(failed(before.error()));
    }
    // None of them alone: threads run on as far as a product of several says.
    if (!before && before.error().limit) {
        for (std::size_t i = 0; i < base.size(); ++i)
            if (planner_.roles()[i] == Role::small) planner_.set_role(i, Role::size);
        while (!before && before.error().limit && planner_.shrink_bounds())
            before = probe(planner_.data_at(0));
    }
    // At such sizes the plan could not be paid (find_cost()), and neither can what is found out here.
    while (before &&
           static_cast<double>(before->warp_instructions) >
               dear_share * static_cast<double>(options_.instruction_budget) &&
           planner_.halve_sizes())
        before = probe(planner_.data_at(0));
    if (!before) return std::unexpected(failed(before.error()));
    base = planner_.data_at(0);
    for (std::size_t i = 0; i < base.size(); ++i) {
        const Role role = planner_.roles()[i];
        if (role == Role::size) {
            const Measured more = probe(planner_.with(base, i, 2 * base[i]));
            if (!more && more.error().limit) {
                planner_.set_role(i, Role::small);
            } else if (!more && is_fault(more.error())) {
                continue;  // as large as it may be
            } else if (!more) {
                return std::unexpected(failed(more.error()));
            } else if (value(*more, Metric::warp_instructions) >
                       most_growth * value(*before, Metric::warp_instructions)) {
                planner_.set_role(i, Role::small);
            } else if (!do_other_work(*more, *before) &&
                       (differ(value(*more, Metric::load_sectors), value(*before, Metric::load_sectors),
                               same_share) ||
                        differ(value(*more, Metric::store_sectors), value(*before, Metric::store_sectors),
                               same_share) ||
                        differ(value(*more, Metric::footprint_sectors),
                               value(*before, Metric::footprint_sectors), same_share))) {
                planner_.set_role(i, Role::pitch);
            }
        } else if (role == Role::fixed) {
            const auto same = [&](double value) {
                const Measured changed = probe(planner_.with(base, i, value));
                matters_[i] = matters_[i] || !changed || do_other_work(*changed, *before);
                return changed && !do_other_work(*changed, *before);
            };
            for (const double more : {3.0, 1e3, 1e6}) {
                if (!same(more)) break;
                same_work_[i].most = more;
            }
            for (const double less : {0.5, 1e-3, 0.0, -1.0, -1e3}) {
                if (!same(less)) break;
                same_work_[i].least = less;
            }
        }
    }
    find_layouts();
    find_special();
    return {};
}

}  // namespace trimtab::profiler
