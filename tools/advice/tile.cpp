// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/tile.h"

#include <algorithm>
#include <cstdlib>

namespace trimtab::advice {
namespace {

using emulator::InstructionClass;
using emulator::InstructionProfile;

struct Interval {
    std::int64_t first = 0, end = 0;
};

// More of them are not worth their time.
constexpr std::size_t most_intervals = 1 << 15;
constexpr std::int64_t sector_bytes = 32;

void merge(std::vector<Interval>& intervals) {
    std::ranges::sort(intervals, {}, &Interval::first);
    std::size_t last = 0;
    for (std::size_t i = 1; i < intervals.size(); ++i) {
        if (intervals[i].first <= intervals[last].end)
            intervals[last].end = std::max(intervals[last].end, intervals[i].end);
        else
            intervals[++last] = intervals[i];
    }
    intervals.resize(intervals.empty() ? 0 : last + 1);
}

// Moved by 0, stride, 2 * stride ... : `count` places in all. False: too many.
bool spread(std::vector<Interval>& intervals, std::int64_t stride, std::uint32_t count) {
    if (stride == 0 || count < 2) return true;
    std::int64_t shortest = intervals.front().end - intervals.front().first;
    for (const Interval& one : intervals) shortest = std::min(shortest, one.end - one.first);
    if (std::abs(stride) <= shortest) {
        const std::int64_t way = stride * (std::int64_t{count} - 1);
        for (Interval& one : intervals) (way > 0 ? one.end : one.first) += way;
    } else {
        const std::size_t own = intervals.size();
        if (own * count > most_intervals) return false;
        for (std::uint32_t k = 1; k < count; ++k)
            for (std::size_t i = 0; i < own; ++i)
                intervals.push_back({intervals[i].first + stride * k, intervals[i].end + stride * k});
    }
    merge(intervals);
    return true;
}

bool is_plain(const InstructionProfile& load) {
    for (const char* qualifier : {".volatile", ".relaxed", ".acquire"})
        if (load.text.contains(qualifier)) return false;
    return true;
}

}  // namespace

Extents product(const Extents& a, const Extents& b) {
    return {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
}

std::size_t LoadGroup::longest() const {
    std::size_t most = 0;
    for (const emulator::LoadPattern* load : loads) most = std::max(most, load->addresses.size());
    return most;
}

double LoadGroup::executions(std::size_t window) const {
    double count = 0;
    for (const emulator::LoadPattern* load : loads)
        count += static_cast<double>(std::min(window, load->addresses.size()));
    return count;
}

std::optional<Touched> LoadGroup::touched(const Extents& box, std::size_t window) const {
    std::vector<Interval> intervals;
    for (const emulator::LoadPattern* load : loads)
        for (std::size_t i = 0; i < std::min(window, load->addresses.size()); ++i) {
            const auto first = static_cast<std::int64_t>(load->addresses[i]);
            intervals.push_back({first, first + load->bytes});
        }
    if (intervals.empty()) return std::nullopt;
    merge(intervals);
    // Short strides first: they make what is next to each other one.
    std::array<std::size_t, 3> order{0, 1, 2};
    const auto& stride = loads.front()->stride;
    std::ranges::sort(order, {}, [&](std::size_t d) { return std::abs(stride[d]); });
    for (const std::size_t d : order)
        if (!spread(intervals, stride[d], box[d])) return std::nullopt;
    Touched out;
    for (const Interval& one : intervals) out.bytes += static_cast<double>(one.end - one.first);
    for (Interval& one : intervals) {
        one.first -= one.first % sector_bytes;
        one.end += (sector_bytes - one.end % sector_bytes) % sector_bytes;
    }
    merge(intervals);
    for (const Interval& one : intervals)
        out.sectors += static_cast<double>(one.end - one.first) / sector_bytes;
    return out;
}

std::optional<double> LoadGroup::distinct_share(const Extents& box, std::size_t window) const {
    const auto all = touched(box, window);
    if (!all) return std::nullopt;
    return std::min(1.0, all->bytes / (bytes() * executions(window) * volume(box)));
}

std::vector<LoadGroup> load_groups(const emulator::LaunchProfile& profile,
                                   const emulator::AccessPatterns& patterns) {
    const double warps = std::max(1.0, profile.counted_active_warps);
    std::vector<LoadGroup> groups;
    for (const emulator::LoadPattern& pattern : patterns.loads) {
        const auto load =
            std::ranges::find(profile.instructions, pattern.instruction, &InstructionProfile::index);
        if (load == profile.instructions.end() || load->kind != InstructionClass::global_load ||
            load->repeats_address || !is_plain(*load))
            continue;
        const auto parameter = static_cast<std::size_t>(load->parameter);
        const bool is_written = load->parameter < 0 || parameter >= profile.written.size()
                                    ? profile.writes_unknown
                                    : profile.written[parameter];
        if (is_written) continue;
        auto group = std::ranges::find_if(groups, [&](const LoadGroup& one) {
            return one.instructions.front()->parameter == load->parameter &&
                   one.loads.front()->stride == pattern.stride && one.loads.front()->bytes == pattern.bytes;
        });
        if (group == groups.end()) group = groups.insert(groups.end(), LoadGroup{});
        group->loads.push_back(&pattern);
        group->instructions.push_back(&*load);
        group->requests += static_cast<double>(load->count.requests) / warps;
    }
    return groups;
}

}  // namespace trimtab::advice
