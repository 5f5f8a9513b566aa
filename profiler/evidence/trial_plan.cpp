// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/evidence/trial_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"
#include "core/analysis/launches/free_totals.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/device.h"
#include "emulation/emulator/exec/memory.h"

namespace trimtab::profiler {

namespace {

using analysis::DataParameter;
using analysis::LaunchConfiguration;

using Shape = std::array<std::uint32_t, 3>;

// Blocks of a launch as written, by how many dimensions vary: two kinds of each are used, so they differ.
constexpr std::array<Shape, 6> written_1d{{{64}, {256}, {128}, {32}, {512}, {1024}}};
constexpr std::array<Shape, 7> written_2d{{{16, 8}, {64, 2}, {32, 4}, {8, 8}, {32, 1}, {1, 32}, {32, 32}}};
constexpr std::array<Shape, 4> written_3d{{{8, 4, 2}, {32, 2, 1}, {4, 4, 4}, {32, 1, 1}}};
// Threads of a small launch in each dimension.
constexpr std::array<std::array<double, 3>, 3> wanted_threads{{{384, 0, 0}, {48, 24, 0}, {16, 12, 6}}};
// Blocks, where they stay as they are; and how long their loops are, about.
constexpr double wanted_blocks = 3, wanted_turns = 400;
// Values up to here are counts of something else than threads: taps, dimensions, exponents.
constexpr double small_value = 8;

Shape shape_of(const trimtab_dim3& value) {
    return {value.x, value.y, value.z};
}
trimtab_dim3 dim3_of(const Shape& value) {
    return {value[0], value[1], value[2]};
}
std::uint64_t threads_of(const trimtab_dim3& block) {
    return std::uint64_t{block.x} * block.y * block.z;
}
bool same(const trimtab_dim3& a, const trimtab_dim3& b) {
    return shape_of(a) == shape_of(b);
}
bool same(const LaunchConfiguration& a, const LaunchConfiguration& b) {
    return same(a.grid, b.grid) && same(a.block, b.block);
}
double rounded_up(double value, double unit) {
    return std::max(1.0, std::ceil(value / unit)) * unit;
}

}  // namespace

TrialPlan::TrialPlan(const analysis::KernelDescription& description, const Profile& profile)
    : description_(description), profile_(profile), device_{} {
    if (const auto device = model::find_device(model::default_device)) device_ = device->values;
    image_ = analysis::to_driver_image(analysis::image_for(description, device_.compute_capability));
    for (std::size_t i = 0; i < description.data.size(); ++i)
        if (description.data[i].is_extent)
            extents_[static_cast<std::size_t>(description.data[i].dimension)] = i;
    for (std::size_t d = 0; d < 3; ++d)
        if (description.varies(d)) varied_dimensions_.push_back(d);
}

// Threads of all blocks count in it.
bool TrialPlan::covers(std::size_t dimension) const {
    return description_.varies(dimension) && !description_.grid_stays(dimension);
}

std::vector<trimtab_dim3> TrialPlan::written_blocks() const {
    const auto built_in = analysis::built_in_block(description_);
    std::vector<trimtab_dim3> out;
    const auto offer = [&](const Shape& shape) {
        Shape block{1, 1, 1};
        for (std::size_t n = 0; n < varied_dimensions_.size(); ++n)
            block[varied_dimensions_[n]] = std::max(1u, shape[n]);
        for (std::size_t d = 0; d < 3 && built_in; ++d)
            if ((*built_in)[d] != 0) block[d] = (*built_in)[d];
        const trimtab_dim3 offered = dim3_of(block);
        const double most = image_.max_threads_per_block;
        if (threads_of(offered) < description_.least_threads || threads_of(offered) > 1024 ||
            (most != 0 && static_cast<double>(threads_of(offered)) > most) ||
            std::ranges::any_of(out, [&](const trimtab_dim3& other) { return same(other, offered); }))
            return;
        out.push_back(offered);
    };
    if (varied_dimensions_.size() == 1) std::ranges::for_each(written_1d, offer);
    if (varied_dimensions_.size() == 2) std::ranges::for_each(written_2d, offer);
    if (varied_dimensions_.size() == 3) std::ranges::for_each(written_3d, offer);
    return out;
}

// Where the guards end the indices of a dimension; none: they do not.
std::optional<double> TrialPlan::end_of(std::size_t dimension, std::vector<double> data) const {
    constexpr double unbounded = 1e12;
    for (const auto& extent : extents_)
        if (extent) data[*extent] = unbounded;
    const double end = profile_.ranges.end[dimension].evaluate(data);
    if (std::abs(end) >= unbounded / 2) return std::nullopt;
    return end;
}

std::vector<double> TrialPlan::base(trimtab_dim3 block, unsigned attempt) const {
    std::vector<double> data;
    if (!profile_.levels.empty())
        data = profile_.levels.front().data;
    else if (!profile_.points.empty())
        data = profile_.points.front().data;
    data.resize(description_.data.size());
    const Shape blocks = shape_of(block);
    std::array<double, 3> wanted{};
    std::size_t covered = 0;
    for (std::size_t d = 0; d < 3; ++d) covered += covers(d) ? 1 : 0;
    for (std::size_t d = 0, n = 0; d < 3; ++d) {
        wanted[d] = covers(d) ? wanted_threads[covered - 1][n++] : wanted_blocks;
        if (covers(d)) wanted[d] = rounded_up(wanted[d], blocks[d]);
        // A loop that goes on by the number of threads goes round several times.
        if (covers(d) && description_.reads_total(d)) wanted[d] = 3.0 * blocks[d];
    }
    double scale = 1;
    for (std::size_t d = 0; d < 3; ++d)
        if (const auto end = end_of(d, data);
            covers(d) && end && !description_.reads_total(d) && *end > wanted[d])
            scale = std::min(scale, wanted[d] / *end);
    double longest = 0;
    for (std::size_t i = 0; i < data.size(); ++i)
        if (!description_.data[i].is_extent) longest = std::max(longest, data[i]);
    if (description_.keeps_grid() && longest > wanted_turns) scale = std::min(scale, wanted_turns / longest);
    if (attempt == 1) scale /= 3;
    if (attempt == 2) scale = 1;
    for (std::size_t i = 0; i < data.size(); ++i)
        if (!description_.data[i].is_extent && data[i] > small_value)
            data[i] = std::max(small_value, std::floor(data[i] * scale));
    for (std::size_t d = 0; d < 3; ++d) {
        if (!extents_[d]) continue;
        double& extent = data[*extents_[d]];
        const auto end = end_of(d, data);
        if (!description_.reads(d))
            extent = 1;
        else if (!covers(d))
            extent = wanted[d];
        else if (end && !description_.reads_total(d))
            extent = rounded_up(*end, blocks[d]);
        else
            extent = wanted[d];
    }
    return data;
}

std::vector<std::vector<double>> TrialPlan::edges(const std::vector<double>& base, trimtab_dim3 block) const {
    constexpr std::size_t most_edges = 28;
    const Shape blocks = shape_of(block);
    std::vector<std::vector<double>> by_parameter(base.size());
    for (std::size_t i = 0; i < base.size(); ++i) {
        const DataParameter& parameter = description_.data[i];
        if (parameter.is_extent) continue;
        std::vector<double>& values = by_parameter[i];
        if (!is_integer_type(parameter.type)) {
            values =
                is_float_type(parameter.type) ? std::vector<double>{0, -1, 1e6, 0.5} : std::vector<double>{0};
            continue;
        }
        // The threads, of the launch or of a block, that it may be compared with.
        std::size_t d = parameter.bounds             ? static_cast<std::size_t>(*parameter.bounds)
                        : varied_dimensions_.empty() ? 0
                                                     : varied_dimensions_.front();
        double threads = covers(d) && extents_[d] ? base[*extents_[d]] : static_cast<double>(blocks[d]);
        // Of the kernel.
        if (const auto made = analysis::coarsening(description_); made && made->dimension == d)
            threads *= made->elements;
        // n - 1 ends where n is one more.
        const auto end = end_of(d, base);
        const double ahead = parameter.bounds && covers(d) && end ? base[i] - *end : 0;
        values = {threads + ahead, threads + 1 + ahead,
                  3 * threads + 5, threads - 1 + ahead,
                  2 * base[i] + 3, 1,
                  base[i] + 1,     0};
        if (parameter.type.starts_with('s')) values.push_back(-1);
    }
    std::vector<std::vector<double>> out;
    for (std::size_t n = 0; out.size() < most_edges; ++n) {
        bool any = false;
        for (std::size_t i = 0; i < base.size() && out.size() < most_edges; ++i) {
            if (n >= by_parameter[i].size()) continue;
            any = true;
            std::vector<double> data = base;
            data[i] = by_parameter[i][n];
            if (data[i] != base[i] && std::ranges::find(out, data) == out.end())
                out.push_back(std::move(data));
        }
        if (!any) break;
    }
    return out;
}

TrialPlan::Extents TrialPlan::extents_of(const std::vector<double>& data) const {
    Extents extents{1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d)
        if (extents_[d]) extents[d] = static_cast<std::uint64_t>(std::max(1.0, data[*extents_[d]]));
    return extents;
}

std::optional<TrialLaunch> TrialPlan::launch(const std::vector<double>& data, trimtab_dim3 block) const {
    const Extents extents = extents_of(data);
    const Shape blocks = shape_of(block);
    Shape grid{1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) {
        const std::uint64_t count = covers(d) ? (extents[d] + blocks[d] - 1) / blocks[d] : extents[d];
        grid[d] = static_cast<std::uint32_t>(description_.reads(d) ? count : 1);
    }
    Arguments arguments = make_arguments(description_, data);
    for (const PointerSlot& slot : arguments.pointers) {
        const std::uint64_t address = emulator::SparseMemory::region_base(slot.region);
        if (slot.offset + sizeof address <= arguments.bytes.size())
            std::memcpy(arguments.bytes.data() + slot.offset, &address, sizeof address);
    }
    const auto written = analysis::stated_launch(description_, arguments.bytes,
                                                 {.grid = dim3_of(grid), .block = block}, block);
    if (!written || !analysis::legal_blocks(description_, arguments.bytes, written->grid, written->block,
                                            device_, image_))
        return std::nullopt;
    return TrialLaunch{.data = data, .arguments = std::move(arguments.bytes), .written = *written};
}

std::vector<std::uint32_t> TrialPlan::sizes(std::size_t dimension) const {
    if (!description_.varies(dimension)) return {1};
    if (varied_dimensions_.size() == 3) return {1, 2, 3, 4, 6, 8, 16, 32, 64};
    return {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024};
}

std::vector<LaunchConfiguration> TrialPlan::legal(const TrialLaunch& launch,
                                                  const trimtab_limits& limits) const {
    std::vector<LaunchConfiguration> out;
    const auto xs = sizes(0), ys = sizes(1), zs = sizes(2);
    for (const std::uint32_t z : zs)
        for (const std::uint32_t y : ys)
            for (const std::uint32_t x : xs) {
                const trimtab_dim3 block{x, y, z};
                if (threads_of(block) > limits.max_threads || !analysis::is_legal(limits, block)) continue;
                const auto other = analysis::launch_with_block(description_, launch.arguments, limits,
                                                               launch.written, block);
                if (other && !same(*other, launch.written)) out.push_back(*other);
            }
    return out;
}

// As the runtime has it: fewer threads, more, and in x as many as there are turns.
std::vector<LaunchConfiguration> TrialPlan::other_totals(const TrialLaunch& launch) const {
    std::vector<LaunchConfiguration> out;
    if (description_.strides.empty() || description_.keeps_grid()) return out;
    const Extents turns = analysis::loop_iterations(description_, launch.arguments);
    const Extents written = description_.counted_extent(launch.written.grid, launch.written.block);
    constexpr double most_threads = 8192;
    for (const double factor : {0.0, 2.0, 0.5, 1e9}) {
        Shape extent{};
        double threads = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            double wanted = static_cast<double>(written[d]);
            if (description_.reads_total(d) && turns[d] != 0)
                wanted = std::clamp(
                    rounded_up(wanted * factor, 32), 32.0,
                    rounded_up(static_cast<double>(std::min<std::uint64_t>(turns[d], 4096)), 1024));
            extent[d] = static_cast<std::uint32_t>(wanted);
            threads *= wanted;
        }
        if (threads > most_threads) continue;
        const auto limits =
            analysis::legal_blocks_of_total(description_, launch.arguments, launch.written.grid,
                                            launch.written.block, device_, image_, dim3_of(extent));
        if (!limits) continue;
        const auto of_total = legal(launch, *limits);
        if (!of_total.empty()) out.push_back(of_total[out.size() * 5 % of_total.size()]);
    }
    return out;
}

std::vector<LaunchConfiguration> TrialPlan::others(const TrialLaunch& launch, std::size_t most,
                                                   std::size_t turn) const {
    const auto limits = analysis::legal_blocks(description_, launch.arguments, launch.written.grid,
                                               launch.written.block, device_, image_);
    if (!limits) return {};
    const std::vector<LaunchConfiguration> all = legal(launch, *limits);
    const Shape extent = shape_of(limits->extent);
    std::uint64_t largest = 0;
    for (const LaunchConfiguration& one : all) largest = std::max(largest, threads_of(one.block));
    const auto divides = [&](const LaunchConfiguration& one) {
        const Shape block = shape_of(one.block);
        for (std::size_t d = 0; d < 3; ++d)
            if (covers(d) && extent[d] % block[d] != 0) return false;
        return true;
    };
    // Kinds of stress, each with those of its kind.
    std::array<std::vector<LaunchConfiguration>, 5> kinds;
    for (const LaunchConfiguration& one : all) {
        const std::uint64_t threads = threads_of(one.block);
        if (threads == 32) kinds[0].push_back(one);
        if (threads == largest) kinds[1].push_back(one);
        if (!divides(one)) kinds[2].push_back(one);
        kinds[4].push_back(one);
    }
    kinds[3] = other_totals(launch);
    std::vector<LaunchConfiguration> out;
    for (std::size_t round = 0; round < most && out.size() < most; ++round)
        for (std::size_t k = 0; k < kinds.size() && out.size() < most; ++k) {
            const auto& kind = kinds[(k + turn) % kinds.size()];
            if (kind.empty()) continue;
            // A stride that meets all of them in the end.
            const LaunchConfiguration& one = kind[(turn * 7 + round * 11) % kind.size()];
            if (std::ranges::none_of(out, [&](const auto& other) { return same(other, one); }))
                out.push_back(one);
        }
    return out;
}

}  // namespace trimtab::profiler
