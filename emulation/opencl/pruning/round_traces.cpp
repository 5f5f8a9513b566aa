// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/round_traces.h"

#include <algorithm>
#include <bit>

namespace trimtab::pruning {

GroupPlacement GroupPlacement::of(trimtab_dim3 global, trimtab_dim3 group, std::uint32_t sm_count,
                                  std::uint32_t resident) {
    const auto cover = [](std::uint32_t extent, std::uint32_t size) {
        return static_cast<std::uint32_t>((std::uint64_t{extent} + size - 1) / size);
    };
    GroupPlacement out{
        .group = group,
        .groups = {cover(global.x, group.x), cover(global.y, group.y), cover(global.z, group.z)}};
    out.group_count = std::uint64_t{out.groups.x} * out.groups.y * out.groups.z;
    out.groups_on_sm = (out.group_count + sm_count - 1) / sm_count;
    out.at_once = static_cast<std::uint32_t>(std::min<std::uint64_t>(resident, out.groups_on_sm));
    const auto is_inner = [](std::uint64_t index, std::uint32_t count, bool last_is_whole) {
        return count > 2 ? index != 0 && index != count - 1 : last_is_whole || index != count - 1;
    };
    const auto is_like_most = [&](std::uint64_t linear) {
        return is_inner(linear % out.groups.x, out.groups.x, global.x % group.x == 0) &&
               is_inner(linear / out.groups.x % out.groups.y, out.groups.y, global.y % group.y == 0) &&
               is_inner(linear / out.groups.x / out.groups.y, out.groups.z, global.z % group.z == 0);
    };
    // From the middle on, to both sides.
    constexpr std::uint64_t most_tries = 64;
    const std::uint64_t last = out.groups_on_sm - out.at_once, middle = last / 2;
    out.first = middle;
    for (std::uint64_t i = 0; i < most_tries; ++i) {
        const std::uint64_t distance = (i + 1) / 2;
        if (distance > middle || middle + distance > last) break;
        const std::uint64_t first = i % 2 != 0 ? middle + distance : middle - distance;
        std::uint32_t g = 0;
        while (g < out.at_once && is_like_most((first + g) * sm_count)) ++g;
        if (g < out.at_once) continue;
        out.first = first;
        break;
    }
    return out;
}

std::uint64_t GroupPlacement::group_at(std::uint32_t i, std::uint32_t sm_count) const {
    return (first + i) * sm_count;
}

CachedRound::Found CachedRound::find(const WalkedWarp& warp, const WalkedAccess& access) {
    Found out;
    if (access.space == Space::local) {
        out.hits = access.passes;
        return out;
    }
    out.misses = access.uncached_sectors;
    for (std::uint32_t i = 0; i < access.line_count; ++i) {
        const TouchedLine& touched = warp.lines[access.first_line + i];
        if (access.space == Space::global) {
            const std::uint32_t missing = l2_.missing(touched.line, touched.sectors);
            out.misses += static_cast<std::uint32_t>(std::popcount(missing));
            out.hits += static_cast<std::uint32_t>(std::popcount(touched.sectors & ~missing));
            continue;
        }
        // Lines of the constant cache are half as long.
        for (unsigned half = 0; half < line_bytes / constant_line_bytes; ++half)
            if ((touched.sectors >> (2 * half) & 3) != 0)
                (constant_.missing(touched.line * 2 + half, 1) != 0 ? out.misses : out.hits) += 1;
    }
    return out;
}

void CachedRound::append(const WalkedAccess& access, Found found, float weight, double latency_factor) {
    const auto add = [&](Component component, std::uint32_t transactions, bool waits) {
        const double delay = latencies_.delay(component);
        const double wait = waits ? latencies_.latency(component) * latency_factor - delay : 0;
        trace_.push_back({.busy_cycles = static_cast<float>(delay * transactions),
                          .wait_cycles = static_cast<float>(std::max(0.0, wait)),
                          .weight = weight,
                          .component = component,
                          .transactions = static_cast<std::uint16_t>(transactions)});
    };
    switch (access.space) {
        case Space::local:
            add(Component::lm, found.hits, true);
            break;
        case Space::constant:
            if (found.hits != 0) add(Component::cc, found.hits, found.misses == 0);
            if (found.misses != 0) add(Component::cm, found.misses, true);
            break;
        case Space::global:
            // What hits and what misses are under way at once: the warp waits for the misses.
            if (found.hits != 0) add(Component::gc, found.hits, found.misses == 0);
            if (found.misses != 0) add(Component::gm, found.misses, true);
            break;
    }
}

void CachedRound::meet(std::span<const WalkedWarp> warps) {
    l2_.clear();
    constant_.clear();
    found_.resize(std::max(found_.size(), warps.size()));
    std::size_t most = 0;
    for (std::size_t w = 0; w < warps.size(); ++w) {
        found_[w].resize(warps[w].accesses.size());
        most = std::max(most, warps[w].accesses.size());
    }
    for (std::size_t a = 0; a < most; ++a)
        for (std::size_t w = 0; w < warps.size(); ++w)
            if (a < warps[w].accesses.size()) found_[w][a] = find(warps[w], warps[w].accesses[a]);
}

const WarpTrace& CachedRound::trace(const WalkedWarp& warp, std::size_t w, double latency_factor) {
    trace_.clear();
    std::size_t access = 0;
    for (std::uint32_t i = 0; i < warp.operations.size(); ++i) {
        const Operation& one = warp.operations[i];
        if (access < warp.accesses.size() && warp.accesses[access].operation == i) {
            append(warp.accesses[access], found_[w][access], one.weight, latency_factor);
            ++access;
        } else {
            trace_.push_back(one);
        }
    }
    return trace_;
}

Round CachedRound::classify(std::span<const WalkedWarp> warps, std::uint32_t warps_per_group,
                            double latency_factor) {
    meet(warps);
    Round out{.warps_per_group = warps_per_group, .warps = {}, .has_barriers = false};
    for (std::size_t w = 0; w < warps.size(); ++w) {
        out.warps.push_back(pool_.intern(trace(warps[w], w, latency_factor)));
        out.has_barriers = out.has_barriers || pool_.sums(out.warps.back()).phase_cycles.size() > 1;
    }
    return out;
}

void StaticTraces::walk(const GroupPlacement& placement, std::uint32_t sm_count, std::uint32_t group,
                        std::uint32_t warp, const WarpLanes& lanes, WalkedWarp& out) {
    const std::uint64_t linear = placement.group_at(group, sm_count);
    const trimtab_dim3 &size = placement.group, &groups = placement.groups;
    walk_.walk({.group = {size.x, size.y, size.z},
                .groups = {groups.x, groups.y, groups.z},
                .index = {static_cast<std::uint32_t>(linear % groups.x),
                          static_cast<std::uint32_t>(linear / groups.x % groups.y),
                          static_cast<std::uint32_t>(linear / groups.x / groups.y)},
                .warp = warp},
               lanes, out);
}

Round StaticTraces::round(const GroupPlacement& placement, std::uint32_t sm_count, double latency_factor) {
    const std::array<std::uint32_t, 3> size{placement.group.x, placement.group.y, placement.group.z};
    const std::uint32_t warps = (size[0] * size[1] * size[2] + warp_lanes - 1) / warp_lanes;
    lanes_.clear();
    for (std::uint32_t w = 0; w < warps; ++w) lanes_.push_back(WarpLanes::of(size, w));
    const std::size_t count = std::size_t{placement.at_once} * warps;
    warps_.resize(std::max(warps_.size(), count));
    std::size_t at = 0;
    for (std::uint32_t g = 0; g < placement.at_once; ++g)
        for (std::uint32_t w = 0; w < warps; ++w) walk(placement, sm_count, g, w, lanes_[w], warps_[at++]);
    return cached_.classify({warps_.data(), count}, warps, latency_factor);
}

RoundSums StaticTraces::estimate(const GroupPlacement& placement, std::uint32_t sm_count,
                                 double latency_factor) {
    const std::array<std::uint32_t, 3> size{placement.group.x, placement.group.y, placement.group.z};
    const std::uint32_t items = size[0] * size[1] * size[2], warps = (items + warp_lanes - 1) / warp_lanes;
    const std::uint32_t groups = placement.at_once;
    struct Sample {
        std::uint32_t group = 0, warp = 0;
        double count = 0;
    };
    // Of what the round's first warp fetches the next one finds some: that is what most of them do. The last warp of a group
    // may lack lanes. In more than one dimension a warp's rows begin at another place for each warp.
    std::vector<Sample> samples{{.group = 0, .warp = 0, .count = 1}};
    const auto add = [&](std::uint32_t group, std::uint32_t warp) {
        if (group < groups && warp < warps) samples.push_back({.group = group, .warp = warp, .count = 0});
    };
    const bool has_short_warp = items % warp_lanes != 0 && warps > 1;
    if (warps - (has_short_warp ? 1u : 0u) > 1)
        add(0, 1);
    else
        add(1, 0);
    if (size[0] != items && warps > 4) {
        add(0, warps / 2);
        add(0, warps / 2 + 1);
    }
    double rest = static_cast<double>(warps) * groups - 1;
    const std::size_t typical = samples.size();
    if (has_short_warp) {
        samples.push_back({.group = 0, .warp = warps - 1, .count = static_cast<double>(groups)});
        rest -= groups;
    }
    // The warps behind a neighbour stand for all others.
    for (std::size_t s = 1; s < typical; s += 2) samples[s].count = 2 * rest / static_cast<double>(typical);
    if (typical == 1) samples[0].count += rest;
    warps_.resize(std::max(warps_.size(), samples.size() + 1));
    walk_.lists_addresses = true;
    for (std::size_t s = 0; s < samples.size(); ++s)
        walk(placement, sm_count, samples[s].group, samples[s].warp, WarpLanes::of(size, samples[s].warp),
             warps_[s]);
    const WalkedWarp* second = nullptr;
    if (groups > 1) {
        WalkedWarp& next = warps_[samples.size()];
        walk(placement, sm_count, 1, 0, WarpLanes::of(size, 0), next);
        second = &next;
    }
    walk_.lists_addresses = false;
    const std::span<const WalkedWarp> walked{warps_.data(), samples.size()};
    cached_.meet(walked);
    const auto& fetches = fetches_.sectors_per_warp(walked[0], second, size, groups);
    RoundSums out;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        const double count = samples[s].count;
        if (count > 0)
            out.add(with_fetches(sums_of(cached_.trace(walked[s], s, latency_factor)), walked[s], s, fetches,
                                 latency_factor),
                    count);
    }
    return out;
}

TraceSums StaticTraces::with_fetches(TraceSums sums, const WalkedWarp& warp, std::size_t w,
                                     const std::vector<std::optional<double>>& fetches,
                                     double latency_factor) const {
    if (warp.accesses.size() != fetches.size()) return sums;  // it goes another way
    const auto wait = [&](Component c) {
        return std::max(0.0, latencies_.latency(c) * latency_factor - latencies_.delay(c));
    };
    const double miss_delay = latencies_.delay(Component::gm), hit_delay = latencies_.delay(Component::gc),
                 miss_wait = wait(Component::gm), hit_wait = wait(Component::gc);
    double more = 0, more_waiting = 0;
    for (std::size_t a = 0; a < fetches.size(); ++a) {
        if (!fetches[a]) continue;
        const double weight = warp.operations[warp.accesses[a].operation].weight;
        const CachedRound::Found own = cached_.found(w, a);
        more += weight * (*fetches[a] - own.misses);
        // As many of the round's warps wait for a miss as fetch: no warp is longer than the longest, so neither is their mean.
        const double sectors = own.hits + own.misses,
                     missing = sectors > 0 ? std::min(1.0, *fetches[a] / sectors) : 0;
        more_waiting += weight * (missing - (own.misses > 0 ? 1 : 0)) * (miss_wait - hit_wait);
    }
    double &missing = sums.busy_cycles[index(Component::gm)], &found = sums.busy_cycles[index(Component::gc)];
    missing = std::max(0.0, missing + more * miss_delay);
    found = std::max(0.0, found - more * hit_delay);
    sums.serial_cycles =
        std::max(sums.serial_cycles, sums.serial_cycles + more * (miss_delay - hit_delay) + more_waiting);
    // Heads and tails are those of the walked warp's own accesses, none where it has none.
    for (const Component c : {Component::gm, Component::gc})
        if (sums.busy_cycles[index(c)] > 0) sums.accesses[index(c)] = std::max(1.0, sums.accesses[index(c)]);
    return sums;
}

}  // namespace trimtab::pruning
