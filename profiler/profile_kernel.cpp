// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/profile_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "profiler/active_indices.h"
#include "profiler/arguments.h"
#include "profiler/kernel_profiler.h"
#include "profiler/made_up_constants.h"
#include "profiler/measured_points.h"
#include "profiler/sampled_launch.h"

namespace trimtab::profiler {

namespace {

using analysis::KernelDescription;
using model::Metric;

// Of the budget, for the boxes of one point.
constexpr double box_share = 0.05;

// Of the budget, what all points together may run at most.
constexpr std::uint64_t most_budgets = 4;

// The threads of a block divide its work among them: what one does goes with how many there are.
bool shares_by_block(const KernelDescription& description) {
    return description.verdict == analysis::Verdict::annotated || description.keeps_grid();
}

}  // namespace

Error KernelProfiler::failed(const MeasureError& error) const {
    if (error.limit)
        return {.message =
                    fmt::format("kernel {} is not profiled: at the smallest sizes it ran more than {} warp "
                                "instructions",
                                description_.name, options_.instruction_budget)};
    // Pointers and offsets that a kernel loads are whatever a build fills memory with.
    if (error.misaligned || error.outside)
        return {.message = fmt::format(
                    "kernel {} is not profiled: with the data that a build makes up it ends with: "
                    "{}; `trimtab profile -- PROGRAM ...` profiles its real launches",
                    description_.name, error.message)};
    return {.message = fmt::format("kernel {} is not profiled: {}", description_.name, error.message)};
}

KernelProfiler::Measured KernelProfiler::measure(const PlannedPoint& point, double warps,
                                                 std::vector<ProfilePoint>* boxes, unsigned seed) {
    SampledLaunch sampled(description_, profile_.ranges, point.data, point.extent, point.block, warps,
                          point.dynamic_shared_bytes);
    MeasuredLaunch& launch = sampled.launch();
    launch.seed = seed;
    launch.instruction_limit = options_.instruction_budget;
    if (boxes != nullptr) {
        const double block_warps = std::ceil(point.block.x * point.block.y * point.block.z / 32.0);
        sampled.add_boxes(box_share * static_cast<double>(options_.instruction_budget) /
                          (block_warps * std::max(1.0, warp_cost_ * cost_growth_)));
    }
    Measured measured = backend_.measure(launch);
    if (!measured) return measured;
    warp_instructions_ += measured->warp_instructions;
    for (std::size_t b = 0; b < launch.boxes.size(); ++b) {
        const std::array<std::uint32_t, 3>& blocks = launch.boxes[b].blocks;
        ProfilePoint& box = boxes->emplace_back();
        box.data = point.data;
        box.box = {double(point.block.x) * blocks[0], double(point.block.y) * blocks[1],
                   double(point.block.z) * blocks[2]};
        box.held_out = point.held_out;
        box.metrics[static_cast<std::size_t>(Metric::footprint_sectors)] = measured->box_sectors[b];
    }
    return measured;
}

// Which indices do something at each of `points`? Guards tell, unless runs at the first few say otherwise.
void KernelProfiler::find_ranges(const std::vector<std::vector<double>>& points) {
    constexpr std::size_t checked = 3;
    std::vector<std::array<Indices, 3>> found;
    // Single threads of a block whose threads work together show nothing.
    bool guards_tell = !shares_by_block(description_);
    const bool may_observe = guards_tell;
    for (std::size_t i = 0; i < points.size(); ++i) {
        found.push_back(active_indices(description_, make_arguments(description_, points[i])));
        if (!may_observe || (i >= checked && guards_tell)) continue;
        const auto observed =
            observed_indices(description_, backend_, points[i], options_.instruction_budget / 100);
        guards_tell = guards_tell && std::ranges::equal(observed, found.back());
        found.back() = observed;
    }
    profile_.ranges = index_ranges(description_, points, found);
}

// Sizes at which an index passes every guard, where the guards tell: lo + i < hi wants one of them large and the
// other one small.
void KernelProfiler::open_guards() {
    const auto open = [&] {
        return dimensions_that_pass(description_, make_arguments(description_, planner_.data_at(0)));
    };
    unsigned most = open();
    const auto widens = [&](std::size_t i, Role role) {
        const Role before = planner_.roles()[i];
        if (role == before) return false;
        planner_.set_role(i, role);
        const unsigned now = open();
        if (now <= most) planner_.set_role(i, before);
        return std::exchange(most, std::max(most, now)) < now;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < planner_.roles().size(); ++i) {
            const Role role = planner_.roles()[i];
            if (role == Role::part || role == Role::size || role == Role::bound)
                changed = changed || widens(i, Role::bound) || widens(i, Role::part);
        }
    }
}

// The first address that faults at one of these levels.
std::optional<MeasureError> KernelProfiler::fault_at(std::initializer_list<std::size_t> levels) {
    for (const std::size_t level : levels) {
        Measured measured = probe(planner_.data_at(level));
        if (!measured && is_fault(measured.error())) return std::move(measured.error());
    }
    return std::nullopt;
}

// Vectors want strides and offsets that are multiples of theirs; tables in constant, shared and local memory
// end somewhere. No array in global memory does, here.
void KernelProfiler::fit_sizes() {
    constexpr double vector_elements = 16;
    const std::size_t count = planner_.roles().size();
    const auto varies = [&](std::size_t i) {
        const Role role = planner_.roles()[i];
        return role == Role::size || role == Role::bound || role == Role::part || role == Role::pitch;
    };
    const auto is_misaligned = [&] {
        const auto fault = fault_at({least_level, four_level, two_level, odd_level});
        return fault && fault->misaligned;
    };
    if (is_misaligned()) {
        for (std::size_t i = 0; i < count; ++i)
            if (varies(i)) planner_.set_unit(i, vector_elements);
        const bool helps = !is_misaligned();
        for (std::size_t i = 0; i < count; ++i) {
            planner_.set_unit(i, 1);
            if (helps && varies(i) && is_misaligned()) planner_.set_unit(i, vector_elements);
        }
    }
    // The one size that all must be smaller in, by as little as does.
    const auto is_outside = [&] {
        const auto fault = fault_at({least_level, most_level});
        return fault && fault->outside;
    };
    if (!is_outside()) return;
    // Numbers in arrays may be larger than how many there may be of them: the bins of a histogram.
    for (std::size_t i = 0; i < count; ++i) {
        const double before = planner_.scale(i);
        if (!varies(i) || before >= 1) continue;
        planner_.set_scale(i, 1);
        if (!is_outside()) return;
        planner_.set_scale(i, before);
    }
    for (const double divisor : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0})
        for (std::size_t i = 0; i < count; ++i) {
            if (!varies(i)) continue;
            const double before = planner_.scale(i);
            planner_.set_scale(i, before / divisor);
            if (!is_outside()) return;
            planner_.set_scale(i, before);
        }
    for (std::size_t i = 0; i < count; ++i) {
        const Role before = planner_.roles()[i];
        if (before != Role::size && before != Role::part) continue;
        planner_.set_role(i, Role::small);
        if (!is_outside()) return;
        planner_.set_role(i, before);
    }
    // A dimension that arrays of the thread's own have room for.
    for (std::size_t i = 0; i < count; ++i) {
        const Role before = planner_.roles()[i];
        if (before != Role::size && before != Role::part) continue;
        planner_.set_role(i, Role::small);
        for (const double most : {4.0, 3.0, 2.0}) {
            planner_.set_most(i, most);
            if (!is_outside()) return;
        }
        planner_.set_most(i, std::numeric_limits<double>::infinity());
        planner_.set_role(i, before);
    }
}

// Sizes at which the kernel does something at all: where a parameter must lie below others (a plane of a
// volume, a step of a factorisation), it is made a part of them.
std::expected<void, Error> KernelProfiler::find_work() {
    const auto works = [&]() -> std::expected<bool, MeasureError> {
        const std::vector<double> base = planner_.data_at(0);
        find_ranges({base});
        const Measured measured = probe(base);
        // What faults does something.
        if (!measured && !is_fault(measured.error()) && !measured.error().limit)
            return std::unexpected(measured.error());
        return !measured || value(*measured, Metric::active_blocks) > 0;
    };
    std::expected<bool, MeasureError> done = works();
    if (done && !*done) {
        open_guards();
        done = works();
    }
    for (std::size_t i = 0; done && !*done && i < planner_.roles().size(); ++i) {
        const Role role = planner_.roles()[i];
        if (role != Role::size && role != Role::bound && role != Role::offset) continue;
        planner_.set_role(i, Role::part);
        done = works();
        if (done && !*done) planner_.set_role(i, role);
    }
    // A mode that no size is.
    for (std::size_t i = 0; done && !*done && i < planner_.roles().size(); ++i) {
        const std::vector<std::uint32_t>& compared = description_.data[i].compared;
        const Role role = planner_.roles()[i];
        if (compared.empty() || role != Role::size) continue;
        planner_.set_mode(i, compared.front());
        done = works();
        if (done && !*done) planner_.drop_mode(i, role);
    }
    if (!done) return std::unexpected(failed(done.error()));
    if (!*done)
        return std::unexpected(
            Error{.message = fmt::format(
                      "kernel {} is not profiled: no thread of it did anything at the planned sizes; "
                      "`trimtab profile -- PROGRAM ...` profiles its real launches",
                      description_.name)});
    if (only_first_work())
        return std::unexpected(
            Error{.message = fmt::format(
                      "kernel {} is not profiled: only its first threads did anything at any size, "
                      "so a bound of theirs is in constant memory; `trimtab profile -- PROGRAM ...` "
                      "profiles its real launches",
                      description_.name)});
    return {};
}

// if (i < n), where n is in constant memory, and made up: what the launches' other threads would do is not known.
bool KernelProfiler::only_first_work() {
    constexpr double few_blocks = 2, many_blocks = 8;
    const emulator::Program* const program = backend_.program();
    if (!description_.guards.empty() || shares_by_block(description_) || program == nullptr ||
        !reads_made_up_integers(*program, description_.name))
        return false;
    return std::ranges::all_of(std::array{least_level, most_level}, [&](std::size_t level) {
        const std::vector<double> data = planner_.data_at(level);
        const std::vector<trimtab_dim3> blocks = planner_.blocks_at(data);
        if (blocks.empty()) return false;
        const trimtab_dim3 extent = planner_.extent_of(data),
                           block = *std::ranges::min_element(
                               blocks, {}, [](const trimtab_dim3& b) { return b.x * b.y * b.z; });
        const auto point = planner_.point(data, block);
        const Measured measured = point ? measure(*point, probe_warps, nullptr, 0) : Measured();
        if (!measured) return false;
        const double all = std::ceil(extent.x / double(block.x)) * std::ceil(extent.y / double(block.y)) *
                           std::ceil(extent.z / double(block.z));
        return all >= many_blocks && value(*measured, Metric::active_blocks) < few_blocks;
    });
}

// Any scale but 0, any positive threshold: the profile holds for the values between those that were tried.
void KernelProfiler::add_ends_of_values(std::vector<PlannedPoint>& points) const {
    for (std::size_t i = 0; i < matters_.size(); ++i) {
        if (!matters_[i]) continue;
        for (const double value : {same_work_[i].least, same_work_[i].most}) {
            const std::vector<double> data = planner_.with(planner_.data_at(middle_level), i, value);
            const std::vector<trimtab_dim3> blocks = planner_.blocks_at(data);
            if (value == 1 || blocks.empty()) continue;
            if (auto point = planner_.point(data, blocks[0])) points.push_back(std::move(*point));
        }
    }
}

// Warps that a point runs when it samples about `warps`.
double KernelProfiler::sampled_warps(const PlannedPoint& point, double warps) const {
    SampledLaunch sampled(description_, profile_.ranges, point.data, point.extent, point.block, warps,
                          point.dynamic_shared_bytes);
    double blocks = 0;
    for (const BlockClass& one : sampled.launch().classes) blocks += static_cast<double>(one.blocks.size());
    return blocks * std::ceil(point.block.x * point.block.y * point.block.z / 32.0);
}

double KernelProfiler::planned_cost(const std::vector<PlannedPoint>& points, double warps) const {
    double total = 0;
    for (const PlannedPoint& point : points)
        total += sampled_warps(point, warps) * warp_cost_ * (point.held_out ? cost_growth_ : 1);
    return total;
}

// Sizes and samples such that the whole profile stays near its budget.
std::expected<void, Error> KernelProfiler::find_cost() {
    const auto budget = static_cast<double>(options_.instruction_budget);
    for (;;) {
        const Measured low = probe(planner_.data_at(0)), high = probe(planner_.data_at(middle_level));
        const bool too_much = (!low && low.error().limit) || (!high && high.error().limit);
        if (!low && !too_much) return std::unexpected(failed(low.error()));
        if (!high && !too_much) return std::unexpected(failed(high.error()));
        if (!too_much) {
            const double least = std::max(1.0, value(*low, Metric::warp_instructions));
            warp_cost_ = std::max(1.0, value(*high, Metric::warp_instructions));
            cost_growth_ = std::max(1.0, warp_cost_ / least);
            const std::vector<PlannedPoint> points = planner_.points();
            for (const double warps : {most_warps, 40.0, 24.0, least_warps}) {
                warps_ = warps;
                if (planned_cost(points, warps) <= budget) return {};
            }
            if (planned_cost(points, least_warps) <= 2 * budget) return {};
        }
        if (planner_.drop_layout() || planner_.halve_sizes() || planner_.drop_special()) continue;
        if (too_much) return std::unexpected(failed({.limit = true, .message = {}}));
        return {};
    }
}

std::expected<void, Error> KernelProfiler::find_data_dependence() {
    const std::vector<double> data = planner_.data_at(middle_level);
    const Measured one = probe(data, 0), other = probe(data, 1);
    for (const Measured* measured : {&one, &other})
        if (!*measured) return std::unexpected(failed(measured->error()));
    for (std::size_t m = 0; m < model::metric_count; ++m)
        if (differ(one->values[m], other->values[m], 1e-3))
            profile_.data_dependent.push_back(static_cast<Metric>(m));
    return {};
}

std::expected<void, Error> KernelProfiler::measure_plan(const std::vector<PlannedPoint>& points,
                                                        const Progress& progress) {
    PointBudget budget{.warp_instructions = most_budgets * options_.instruction_budget,
                       .of_a_point = options_.instruction_budget,
                       .warps = {}};
    for (const PlannedPoint& point : points) budget.warps.push_back(sampled_warps(point, warps_));
    auto measured = measure_points(
        points, budget,
        [&](const PlannedPoint& planned) -> std::expected<MeasuredPoint, MeasureError> {
            MeasuredPoint out;
            auto one = measure(planned, warps_, planned.boxes ? &out.points : nullptr, 0);
            if (!one) return std::unexpected(std::move(one.error()));
            out.warp_instructions = one->warp_instructions;
            if (value(*one, Metric::active_blocks) == 0) return out;  // nothing to learn from
            ProfilePoint& point = out.points.emplace_back();
            point.data = planned.data;
            point.box = {double(planned.block.x), double(planned.block.y), double(planned.block.z)};
            point.held_out = planned.held_out;
            for (std::size_t m = 0; m < model::metric_count; ++m)
                if (!planned.counts_alone || model::is_count(static_cast<Metric>(m)))
                    point.metrics[m] = one->values[m];
            return out;
        },
        progress);
    if (!measured) return std::unexpected(failed(measured.error()));
    profile_.points = std::move(measured->points);
    profile_.left_out = measured->left_out;
    return {};
}

std::expected<Profile, Error> KernelProfiler::run(const Progress& progress) {
    if (description_.verdict == analysis::Verdict::fixed)
        return std::unexpected(
            Error{.message = fmt::format("kernel {} is left alone: there is no block to choose",
                                         description_.name)});
    if (planner_.blocks_at(planner_.data_at(0)).empty())
        return std::unexpected(Error{
            .message = fmt::format("kernel {} is not profiled: its block cannot change", description_.name)});
    if (auto found = find_work(); !found) return std::unexpected(found.error());
    find_rows();
    if (shares_by_block(description_)) find_scales();
    fit_sizes();
    find_steps();
    if (auto found = find_roles(); !found) return std::unexpected(found.error());
    if (auto found = find_cost(); !found) return std::unexpected(found.error());
    find_counts();

    profile_.kernel_id = description_.id;
    profile_.backend_name = backend_.name();
    profile_.backend_version = backend_.version();
    profile_.element_bytes = element_bytes(description_);
    profile_.blocks_cooperate = shares_by_block(description_);
    for (const analysis::DataParameter& parameter : description_.data)
        profile_.data_names.push_back(parameter.name);

    profile_.levels = planner_.levels();
    std::vector<PlannedPoint> points = planner_.points();
    add_ends_of_values(points);
    std::vector<std::vector<double>> data;
    for (const PlannedPoint& point : points)
        if (data.empty() || data.back() != point.data) data.push_back(point.data);
    find_ranges(data);
    if (auto measured = measure_plan(points, progress); !measured) return std::unexpected(measured.error());
    if (profile_.points.empty())
        return std::unexpected(
            Error{.message = fmt::format(
                      "kernel {} is not profiled: no warp of it did anything at the planned sizes; "
                      "`trimtab profile -- PROGRAM ...` profiles its real launches",
                      description_.name)});
    if (auto found = find_data_dependence(); !found) return std::unexpected(found.error());
    for (std::size_t i = 0; i < description_.data.size(); ++i)
        profile_.varied.push_back(planner_.roles()[i] != Role::fixed || !matters_[i]);
    if (!profile_.strides.empty())
        for (std::size_t i = 0; i < description_.data.size(); ++i)
            if (planner_.roles()[i] == Role::pitch) profile_.pitches.push_back(static_cast<std::uint32_t>(i));
    profile_.warp_instructions = warp_instructions_;
    return std::move(profile_);
}

std::expected<Profile, Error> profile_kernel(const KernelDescription& description, Backend& backend,
                                             const ProfileOptions& options, const Progress& progress) {
    return KernelProfiler(description, backend, options).run(progress);
}

}  // namespace trimtab::profiler
