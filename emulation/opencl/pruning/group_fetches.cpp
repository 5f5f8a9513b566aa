// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/group_fetches.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <span>

#include "emulation/opencl/pruning/components.h"

namespace trimtab::pruning {

GroupFetches::Recent* GroupFetches::RecentPlaces::find(const Place& place) {
    for (Recent& one : std::span(ring_).first(std::min(count_, ring_.size())))
        if (one.place == place) return &one;
    return nullptr;
}

std::uint32_t GroupFetches::fetched(const WalkedWarp& warp, std::size_t a,
                                    const std::array<std::uint32_t, 3>& group, RecentPlaces& recent) {
    constexpr auto sector = static_cast<std::int64_t>(sector_bytes);
    const AccessAddress& access = warp.addresses[a];
    const WarpValue& v = access.value;
    // What lies apart begins at the same byte of a sector, and what does not lies along x: where the first row lies says
    // where all do.
    const auto lies_apart = [](std::int64_t step) { return step % sector == 0; };
    const bool is_row = std::abs(v.x) <= sector;
    const bool is_regular = lies_apart(v.y) && lies_apart(v.z) && (is_row || lies_apart(v.x));
    Place place{.x = v.x, .y = v.y, .z = v.z};
    if (is_regular) {
        const std::int64_t end = is_row ? v.base + v.x * (std::int64_t{group[0]} - 1) : v.base;
        place.first_sector = std::min(v.base, end) / sector;
        place.last_sector = (std::max(v.base, end) + access.bytes - 1) / sector;
        if (Recent* known = recent.find(place); known != nullptr && touched_ - known->touched < capacity_) {
            known->touched = touched_;
            return 0;
        }
    }
    lines_.clear();
    lines_of_group(v, access.bytes, group, lines_);
    std::uint32_t out = 0;
    for (const TouchedLine& one : lines_)
        out += static_cast<std::uint32_t>(std::popcount(cache_.missing(one.line, one.sectors)));
    touched_ += lines_.size();
    if (is_regular) recent.add({.place = place, .touched = touched_});
    return out;
}

const std::vector<std::optional<double>>& GroupFetches::sectors_per_warp(
    const WalkedWarp& first, const WalkedWarp* second, const std::array<std::uint32_t, 3>& group,
    std::uint32_t groups_at_once) {
    const std::size_t count = first.accesses.size();
    const auto warps_of_group = (group[0] * group[1] * group[2] + warp_lanes - 1) / warp_lanes;
    const double groups = groups_at_once, warps = groups * static_cast<double>(warps_of_group);
    const auto is_told = [&](std::size_t a) {
        return first.accesses[a].space == Space::global && first.addresses[a].is_of_all &&
               (second == nullptr || second->addresses[a].is_of_all);
    };
    if (second != nullptr && second->accesses.size() != count) second = nullptr;
    const auto meet = [&](std::uint64_t capacity_lines) {
        out_.assign(count, std::nullopt);
        cache_.clear(capacity_lines);
        capacity_ = capacity_lines;
        touched_ = 0;
        for (RecentPlaces& one : recent_) one.clear();
        std::size_t lines_of_first = 0, lines_of_second = 0;
        for (std::size_t a = 0; a < count; ++a) {
            if (!is_told(a)) continue;
            const std::size_t before = cache_.lines();
            double sectors = fetched(first, a, group, recent_[0]);
            lines_of_first += cache_.lines() - before;
            if (second != nullptr) {
                const std::size_t between = cache_.lines();
                sectors += (groups - 1) * fetched(*second, a, group, recent_[1]);
                lines_of_second += cache_.lines() - between;
            } else {
                sectors *= groups;
            }
            out_[a] = sectors / warps;
        }
        return std::pair(lines_of_first, lines_of_second);
    };
    const auto [of_first, of_second] = meet(std::numeric_limits<std::uint64_t>::max());
    // What all groups touch is there once, what each has to itself as often as there are groups. Two groups tell the lines of
    // all to some percent, as rows begin anywhere in a line: what nearly fits is taken to fit, for an estimate may be too low.
    constexpr double nearly = 1.05;
    const double own = static_cast<double>(second != nullptr ? of_second : of_first),
                 shared = std::max(0.0, static_cast<double>(of_first) - own),
                 capacity = nearly * static_cast<double>(l2_lines_);
    if (shared + own * groups > capacity) {
        const double share = std::min(1.0, (second != nullptr ? 2 : 1) / groups);
        static_cast<void>(meet(static_cast<std::uint64_t>(std::min(shared, capacity) +
                                                          std::max(0.0, capacity - shared) * share)));
    }
    return out_;
}

}  // namespace trimtab::pruning
