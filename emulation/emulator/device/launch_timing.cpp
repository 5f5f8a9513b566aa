// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/launch_timing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/model/occupancy.h"
#include "core/model/performance_model.h"
#include "emulation/emulator/metrics/metrics.h"

namespace trimtab::emulator {
namespace {

// Threads of a launch that are counted at most, in so many stretches: more would add minutes of emulation and
// nothing to the averages.
constexpr std::uint64_t counted_threads = std::uint64_t{1} << 18;
constexpr std::uint64_t counted_stretches = 8;

// A recorded time counts as the same again within this part.
constexpr double steady_difference = 0.01;

void mark_counted(std::vector<Stretch>& stretches, const Stretch& run) {
    std::vector<Stretch> out;
    const auto add = [&out](std::uint64_t first, std::uint64_t end, bool counted) {
        if (first >= end) return;
        if (!out.empty() && out.back().counted == counted)
            out.back().count += end - first;
        else
            out.push_back({.first = first, .count = end - first, .counted = counted});
    };
    for (const Stretch& stretch : stretches) {
        const std::uint64_t end = stretch.first + stretch.count;
        const std::uint64_t from = std::clamp(run.first, stretch.first, end),
                            to = std::clamp(run.first + run.count, stretch.first, end);
        add(stretch.first, from, stretch.counted);
        add(from, to, true);
        add(to, end, stretch.counted);
    }
    stretches = std::move(out);
}

std::uint64_t threads_of(const trimtab_dim3& block) {
    return std::uint64_t{block.x} * block.y * block.z;
}

std::uint64_t counted_blocks(std::uint64_t threads_per_block) {
    return std::max<std::uint64_t>(counted_threads / threads_per_block, counted_stretches);
}

}  // namespace

std::vector<Stretch> stretches_of(std::uint64_t blocks, std::uint64_t threads_per_block,
                                  const Stretch& whole) {
    const std::uint64_t wanted = counted_blocks(threads_per_block);
    if (blocks <= 2 * wanted) return {{.first = 0, .count = blocks, .counted = true}};
    const std::uint64_t each = wanted / counted_stretches;
    std::vector<Stretch> out;
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < counted_stretches; ++i) {
        // The first begins with the first block, the last ends with the last.
        const std::uint64_t first = (blocks - each) * i / (counted_stretches - 1);
        if (first > next) out.push_back({.first = next, .count = first - next, .counted = false});
        out.push_back({.first = first, .count = each, .counted = true});
        next = first + each;
    }
    mark_counted(out, whole);
    return out;
}

LaunchCounts::LaunchCounts(const trimtab_device& device, const TimedLaunch& launch)
    : device_(device), launch_(launch) {
    const auto threads = static_cast<std::uint32_t>(threads_of(launch.block));
    resident_blocks_ = std::max(
        1u, model::occupancy(device, launch.image, threads, launch.dynamic_shared_bytes).blocks_per_sm);
    const auto program = model::performance_model(model::default_model);
    if (!program) return;
    program_ = *program;
    inputs_ = model::input_values(*program_, device, launch.image,
                                  {.extent = {.x = launch.grid.x * launch.block.x,
                                              .y = launch.grid.y * launch.block.y,
                                              .z = launch.grid.z * launch.block.z},
                                   .block = launch.block,
                                   .dynamic_shared_bytes = static_cast<double>(launch.dynamic_shared_bytes)});
    const BlockBox grid{.first = {}, .count = {launch.grid.x, launch.grid.y, launch.grid.z}};
    boxes_ =
        boxes_of_blocks(requested_boxes(*program_, inputs_, everything_active(launch.grid, launch.block)),
                        grid, launch.block);
    std::erase(boxes_, grid);  // of which the counters tell anyway
}

std::vector<Stretch> LaunchCounts::stretches() const {
    // Boxes that are too large to be counted are left to be judged from the others.
    const std::uint64_t threads = threads_of(launch_.block), most = counted_blocks(threads);
    Stretch whole;
    for (const BlockBox& box : boxes_) {
        const std::uint64_t first = box.first_index(launch_.grid), end = box.last_index(launch_.grid) + 1;
        const std::uint64_t from = whole.count == 0 ? first : std::min(first, whole.first),
                            to = std::max(end, whole.first + whole.count);
        if (to - from <= most) whole = {.first = from, .count = to - from, .counted = true};
    }
    return stretches_of(launch_.block_count(), threads, whole);
}

std::vector<const BlockBox*> LaunchCounts::boxes_in(const Stretch& stretch) const {
    std::vector<const BlockBox*> out;
    for (const BlockBox& box : boxes_)
        if (box.first_index(launch_.grid) >= stretch.first &&
            box.last_index(launch_.grid) < stretch.first + stretch.count)
            out.push_back(&box);
    return out;
}

CountingPlan LaunchCounts::plan(const Stretch& stretch) const {
    CountingPlan plan{.count = true, .footprints = true, .groups = {}};
    for (const BlockBox* box : boxes_in(stretch)) plan.groups.push_back(box->indices(launch_.grid));
    return plan;
}

void LaunchCounts::add(const Stretch& stretch, const LaunchCounters& more) {
    const auto add_footprint = [this](const BlockBox& box, std::uint64_t sectors) {
        const ThreadBox threads = box.threads(launch_.block);
        footprints_.push_back(
            {.x = threads[0], .y = threads[1], .z = threads[2], .sectors = static_cast<double>(sectors)});
    };
    const std::vector<const BlockBox*> boxes = boxes_in(stretch);
    for (std::size_t i = 0; i < boxes.size() && i < more.group_sectors.size(); ++i)
        add_footprint(*boxes[i], more.group_sectors[i]);
    if (stretch.count == launch_.block_count() && stretch.count > 1)
        add_footprint({.first = {}, .count = {launch_.grid.x, launch_.grid.y, launch_.grid.z}},
                      more.total_sectors);
    static_cast<WarpCounts&>(sum_) += more;
    sum_.idle_lanes += more.idle_lanes;
    for (std::size_t i = 0; i < instruction_class_count; ++i) {
        sum_.by_class[i] += more.by_class[i];
        sum_.active_by_class[i] += more.active_by_class[i];
    }
    if (sum_.instructions.size() < more.instructions.size())
        sum_.instructions.resize(more.instructions.size());
    for (std::size_t i = 0; i < more.instructions.size(); ++i) sum_.instructions[i] += more.instructions[i];
}

std::vector<FootprintSample> LaunchCounts::all_footprints() const {
    std::vector<FootprintSample> footprints = footprints_in_block(sum_, launch_.block);
    footprints.insert(footprints.end(), footprints_.begin(), footprints_.end());
    return footprints;
}

LaunchProfile LaunchCounts::profile() const {
    LaunchProfile profile = launch_profile(*launch_.program, launch_.info->name, sum_, launch_.block_count());
    profile.grid = launch_.grid;
    profile.block = launch_.block;
    profile.dynamic_shared_bytes = launch_.dynamic_shared_bytes;
    profile.image = launch_.image;
    profile.parameters = launch_.parameters;
    profile.footprints = all_footprints();
    return profile;
}

LaunchTime LaunchCounts::time() const {
    if (program_ == nullptr) return {.duration_ns = device_.launch_overhead_ns, .part_of_device = 1};
    const std::uint64_t blocks = launch_.block_count();
    const auto result = program_->evaluate(
        inputs_,
        measured_metrics(metrics(*launch_.program, launch_.info->name, sum_, blocks), all_footprints()));

    const double resident = static_cast<double>(resident_blocks_) * std::max(1.0, device_.sm_count);
    const bool is_time = std::isfinite(result.time_ns) && result.time_ns > 0;
    double warp_instructions = 0;
    for (const ClassCount& count : sum_.by_class) warp_instructions += static_cast<double>(count.warp);
    return {.duration_ns = is_time ? result.time_ns : device_.launch_overhead_ns,
            .part_of_device = std::min(1.0, static_cast<double>(blocks) / resident),
            .warp_instructions =
                warp_instructions * static_cast<double>(blocks) / static_cast<double>(sum_.blocks)};
}

bool LaunchTimes::recall(const std::string& key, LaunchTime& time) {
    const auto place = entries_.find(key);
    if (place == entries_.end()) return false;
    Entry& entry = place->second;
    ++entry.launches;
    if (!entry.steady || entry.launches >= entry.next_count) return false;
    time = entry.time;
    return true;
}

void LaunchTimes::record(const std::string& key, const LaunchTime& time) {
    if (entries_.size() >= max_entries) entries_.clear();
    const auto [place, is_new] = entries_.try_emplace(key);
    Entry& entry = place->second;
    const double before = entry.time.duration_ns;
    entry.steady = !is_new && std::abs(time.duration_ns - before) <= steady_difference * before;
    entry.next_count = entry.steady ? 2 * entry.launches + 2 : 0;
    entry.time = time;
}

}  // namespace trimtab::emulator
