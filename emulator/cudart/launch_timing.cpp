#include "emulator/cudart/launch_timing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emulator/mem/metrics.h"
#include "model/occupancy.h"
#include "model/performance_model.h"

namespace trimtab::emulator::cudart {
namespace {

// Threads of a launch that are counted at most, in so many stretches: more would add minutes of emulation and
// nothing to the averages.
constexpr std::uint64_t counted_threads = std::uint64_t{1} << 18;
constexpr std::uint64_t counted_stretches = 8;

// A recorded time counts as the same again within this part.
constexpr double steady_difference = 0.01;

template <typename Sums>
void add_to(Sums& sum, const Sums& more) {
    if (sum.size() < more.size()) sum.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

}  // namespace

std::vector<Stretch> stretches_of(std::uint64_t blocks, std::uint64_t threads_per_block) {
    const std::uint64_t wanted =
        std::max<std::uint64_t>(counted_threads / threads_per_block, counted_stretches);
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
    return out;
}

LaunchCounts::LaunchCounts(const trimtab_device& device, const TimedLaunch& launch)
    : device_(device), launch_(launch) {
    const std::uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
    resident_blocks_ = std::max(
        1u, model::occupancy(device, launch.image, threads, launch.dynamic_shared_bytes).blocks_per_sm);
}

CountingPlan LaunchCounts::plan(const Stretch& stretch) const {
    CountingPlan plan{.count = true, .footprints = true, .groups = {}};
    const auto sm_count = static_cast<std::uint64_t>(std::max(1.0, device_.sm_count));
    for (const std::uint64_t blocks : {resident_blocks_, resident_blocks_ * sm_count}) {
        if (blocks < 2 || blocks >= stretch.count) continue;
        std::vector<std::uint64_t>& group = plan.groups.emplace_back(blocks);
        std::iota(group.begin(), group.end(), stretch.first);
    }
    return plan;
}

void LaunchCounts::add(const LaunchCounters& more) {
    LaunchCounters& sum = sum_;
    ++stretches_;
    sum.blocks += more.blocks;
    sum.warps += more.warps;
    sum.active_blocks += more.active_blocks;
    sum.active_warps += more.active_warps;
    for (std::size_t i = 0; i < instruction_class_count; ++i) {
        sum.by_class[i].warp += more.by_class[i].warp;
        sum.by_class[i].thread += more.by_class[i].thread;
        sum.active_by_class[i].warp += more.active_by_class[i].warp;
        sum.active_by_class[i].thread += more.active_by_class[i].thread;
    }
    if (sum.instructions.size() < more.instructions.size()) sum.instructions.resize(more.instructions.size());
    for (std::size_t i = 0; i < more.instructions.size(); ++i) {
        InstructionCount& to = sum.instructions[i];
        const InstructionCount& from = more.instructions[i];
        to.warp += from.warp;
        to.thread += from.thread;
        to.requests += from.requests;
        to.sectors += from.sectors;
        to.lines += from.lines;
        to.full_segments += from.full_segments;
        to.fragments += from.fragments;
        to.wavefronts += from.wavefronts;
        to.bytes += from.bytes;
        to.divergent += from.divergent;
    }
    sum.barriers += more.barriers;
    sum.branches += more.branches;
    sum.divergent_branches += more.divergent_branches;
    sum.idle_lanes += more.idle_lanes;
    sum.dependent_rounds += more.dependent_rounds;
    sum.max_dependent_rounds = std::max(sum.max_dependent_rounds, more.max_dependent_rounds);
    sum.max_warp_instructions = std::max(sum.max_warp_instructions, more.max_warp_instructions);
    sum.block_sectors += more.block_sectors;
    add_to(sum.group_sectors, more.group_sectors);
    add_to(sum.group_lines, more.group_lines);
    sum.total_sectors += more.total_sectors;
}

LaunchTime LaunchCounts::time() const {
    const auto program = model::performance_model(model::default_model);
    if (!program) return {.duration_ns = device_.launch_overhead_ns, .part_of_device = 1};
    const std::uint64_t blocks = launch_.block_count();
    const model::MetricValues values = metrics(*launch_.program, launch_.info->name, sum_, blocks);
    const double block_threads = static_cast<double>(launch_.block.x) * launch_.block.y * launch_.block.z;
    const auto stretches = static_cast<double>(stretches_);

    std::vector<FootprintSample> footprints;
    const auto sample = [&](double box_blocks, std::uint64_t sectors, double samples) {
        if (sectors > 0 && samples > 0)
            footprints.push_back({.box_threads = block_threads * box_blocks,
                                  .sectors = static_cast<double>(sectors) / samples});
    };
    sample(1, sum_.block_sectors, static_cast<double>(sum_.active_blocks));
    const double blocks_a_stretch = static_cast<double>(sum_.blocks) / stretches;
    const CountingPlan groups = plan({.first = 0, .count = sum_.blocks / stretches_, .counted = true});
    for (std::size_t i = 0; i < groups.groups.size() && i < sum_.group_sectors.size(); ++i)
        sample(static_cast<double>(groups.groups[i].size()), sum_.group_sectors[i], stretches);
    if (blocks_a_stretch > 1) sample(blocks_a_stretch, sum_.total_sectors, stretches);

    const model::Launch shape{.extent = {.x = launch_.grid.x * launch_.block.x,
                                         .y = launch_.grid.y * launch_.block.y,
                                         .z = launch_.grid.z * launch_.block.z},
                              .block = launch_.block,
                              .dynamic_shared_bytes = static_cast<double>(launch_.dynamic_shared_bytes)};
    const auto inputs = model::input_values(**program, device_, launch_.image, shape);
    const auto result = (*program)->evaluate(inputs, measured_metrics(values, std::move(footprints)));

    const double resident = static_cast<double>(resident_blocks_) * std::max(1.0, device_.sm_count);
    const bool is_time = std::isfinite(result.time_ns) && result.time_ns > 0;
    return {.duration_ns = is_time ? result.time_ns : device_.launch_overhead_ns,
            .part_of_device = std::min(1.0, static_cast<double>(blocks) / resident)};
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

}  // namespace trimtab::emulator::cudart
