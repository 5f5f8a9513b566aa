// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/prune.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <optional>

#include "emulation/opencl/pruning/active_groups.h"
#include "emulation/opencl/pruning/estimate_queue.h"
#include "emulation/opencl/pruning/paper_round.h"
#include "emulation/schedule/estimate.h"

namespace trimtab::pruning {

namespace {

// Of the processor: on a machine that others use, nothing else says anything.
double seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

std::uint64_t items(trimtab_dim3 size) {
    return std::uint64_t{size.x} * size.y * size.z;
}

class Pruner {
  public:
    explicit Pruner(const PruneRequest& request)
        : request_(request), sm_count_(std::max(1u, static_cast<std::uint32_t>(request.device->sm_count))) {}

    PruneResult run() {
        const double start = seconds();
        place();
        switch (request_.settings.method) {
            case Method::screened:
                screen();
                break;
            case Method::ordered:
                search_in_order();
                break;
            case Method::algorithm_4:
                eliminate();
                break;
            case Method::exhaustive:
                for (const std::size_t i : launchable()) simulate(i);
                break;
        }
        settle();
        out_.search_seconds = seconds() - start - out_.trace_seconds;
        return std::move(out_);
    }

  private:
    // What the device takes, and in how many rounds (equation (10)).
    void place() {
        const trimtab_device& device = *request_.device;
        const auto cover = [](std::uint32_t extent, std::uint32_t size) {
            return static_cast<std::uint32_t>((std::uint64_t{extent} + size - 1) / size);
        };
        for (std::size_t i = 0; i < request_.sizes.size(); ++i) {
            SizeResult result{.size = request_.sizes[i], .representative = i};
            const trimtab_dim3 &size = result.size, &global = request_.global;
            GroupPlacement placed{
                .group = size,
                .groups = {cover(global.x, size.x), cover(global.y, size.y), cover(global.z, size.z)}};
            const double local_bytes = request_.dynamic_local_bytes +
                                       request_.local_bytes_per_item * static_cast<double>(items(size));
            placed.local_bytes = static_cast<std::uint32_t>(local_bytes);
            const bool fits = items(size) <= device.max_threads_per_block && size.x <= device.max_block_x &&
                              size.y <= device.max_block_y && size.z <= device.max_block_z &&
                              placed.groups.x <= device.max_grid_x && placed.groups.y <= device.max_grid_y &&
                              placed.groups.z <= device.max_grid_z;
            const ActiveGroups active =
                fits ? active_groups(device, request_.image, static_cast<std::uint32_t>(items(size)),
                                     local_bytes)
                     : ActiveGroups{};
            if (active.groups != 0) {
                const std::uint64_t on_sm = (items(placed.groups) + sm_count_ - 1) / sm_count_;
                placed.at_once = static_cast<std::uint32_t>(std::min<std::uint64_t>(active.groups, on_sm));
                result.groups_at_once = placed.at_once;
                result.warps_at_once = placed.at_once * active.warps_per_group;
                result.rounds = static_cast<double>(on_sm) / placed.at_once;
                result.fate = Fate::unlikely;  // until more is known
                ++out_.launchable;
            }
            placed_.push_back(placed);
            out_.sizes.push_back(result);
        }
    }
    [[nodiscard]] std::vector<std::size_t> launchable() const {
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < out_.sizes.size(); ++i)
            if (out_.sizes[i].fate != Fate::refused) out.push_back(i);
        return out;
    }

    std::optional<schedule::TracedLaunch> trace(std::size_t i) {
        const double start = seconds();
        auto launch = request_.trace(placed_[i]);
        out_.trace_seconds += seconds() - start;
        if (request_.progress) request_.progress(++asked_, out_.sizes.size());
        if (launch) {
            ++out_.traced;
            return std::move(*launch);
        }
        out_.sizes[i].fate = Fate::refused;
        --out_.launchable;
        return std::nullopt;
    }

    void simulate(std::size_t i) {
        const auto launch = trace(i);
        if (!launch) return;
        SizeResult& result = out_.sizes[i];
        result.ns = schedule::estimate(*launch).time_ns;
        result.fate = Fate::simulated;
        ++out_.simulated;
        best_ns_ = std::min(best_ns_, result.ns);
    }

    [[nodiscard]] bool can_gain(double at_best_ns) const {
        return at_best_ns * (1 + request_.settings.least_gain) <= best_ns_;
    }

    void screen() {
        const std::uint32_t all = request_.settings.most_simulated;
        if (out_.launchable <= all) {
            for (const std::size_t i : launchable()) simulate(i);
            return;
        }
        std::uint32_t most_warps = 0;
        for (const SizeResult& one : out_.sizes) most_warps = std::max(most_warps, one.warps_at_once);
        look_at_least(most_warps, all - all / 4);
        // Estimates know no cache: where the data of all warps do not fit, the fewest warps may be the best.
        look_at_least(most_warps / 2, all);
        out_.batches = looked_at_.size();
    }

    // Simulates sizes of at most so many active warps, in the order of their estimates, until `most_simulated` are in all.
    void look_at_least(std::uint32_t most_warps, std::size_t most_simulated) {
        std::vector<SizeToEstimate> sizes;
        for (const std::size_t i : launchable())
            if (const SizeResult& one = out_.sizes[i];
                one.fate == Fate::unlikely && one.warps_at_once <= most_warps)
                sizes.push_back({.index = i,
                                 .size = one.size,
                                 .groups_at_once = one.groups_at_once,
                                 .warps_at_once = one.warps_at_once,
                                 .rounds = one.rounds});
        EstimateQueue queue(sizes, [&](std::size_t i) {
            auto [known, is_new] = rounds_.try_emplace(i, 1);
            if (is_new && request_.estimate)
                known->second = request_.estimate(placed_[i]) / out_.sizes[i].rounds;
            return known->second;
        });
        for (const SizeToEstimate& one : sizes) out_.sizes[one.index].estimate_ns = queue.estimate(one.index);
        // Sizes of estimates farther above the least are not looked at.
        constexpr double most_over_least = 1.5;
        double most = std::numeric_limits<double>::infinity();
        while (out_.simulated < most_simulated) {
            const auto next = queue.first_between(0, most);
            if (!next) break;
            queue.take(*next);
            SizeResult& one = out_.sizes[*next];
            one.estimate_ns = queue.estimate(*next);
            most = std::min(most, most_over_least * one.estimate_ns);
            const auto alike =
                std::ranges::find_if(looked_at_, [&](std::size_t other) { return are_alike(*next, other); });
            if (request_.estimate && alike != looked_at_.end()) {
                one.fate = Fate::duplicate;
                one.representative = *alike;
                continue;
            }
            simulate(*next);
            if (one.fate == Fate::simulated) looked_at_.push_back(*next);
        }
    }
    // Section 6.1, as far as estimates show it: as many active warps, and rounds of them that take the same. The other, which
    // was before in the order of estimates, has the fewest rounds.
    [[nodiscard]] bool are_alike(std::size_t i, std::size_t other) const {
        constexpr double same = 0.01;
        const SizeResult &a = out_.sizes[i], &b = out_.sizes[other];
        const double round = a.estimate_ns / a.rounds, other_round = b.estimate_ns / b.rounds;
        return a.warps_at_once == b.warps_at_once && std::abs(round - other_round) <= same * other_round;
    }

    void search_in_order() {
        std::vector<std::size_t> order;
        for (const std::size_t i : launchable())
            if (const auto launch = trace(i)) {
                bound(i, *launch);
                order.push_back(i);
            }
        std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(out_.sizes[i].best_ns, i); });
        for (const std::size_t i : order) {
            if (!can_gain(out_.sizes[i].best_ns)) break;
            simulate(i);
        }
    }
    void bound(std::size_t i, const schedule::TracedLaunch& launch) {
        const schedule::Bounds bounds = schedule::bounds(launch);
        const auto ns = [&](double cycles) {
            return cycles / launch.sm_clock_hz * 1e9 + launch.launch_overhead_ns;
        };
        SizeResult& one = out_.sizes[i];
        one.fate = Fate::inferior;  // until more is known
        one.best_ns = ns(bounds.least_cycles);
        one.worst_ns = ns(bounds.most_cycles);
    }

    // Fewer items, then wider, as in other rankings here.
    [[nodiscard]] bool comes_first(std::size_t a, std::size_t b) const {
        const SizeResult &left = out_.sizes[a], &right = out_.sizes[b];
        if (left.rounds != right.rounds) return left.rounds < right.rounds;
        if (items(left.size) != items(right.size)) return items(left.size) < items(right.size);
        return left.size.x != right.size.x ? left.size.x > right.size.x : a < b;
    }

    void eliminate() {
        // Section 6.1.
        std::map<PaperRound::Signature, std::size_t> batches;
        for (const std::size_t i : launchable()) {
            const auto launch = trace(i);
            if (!launch) continue;
            const PaperRound round(*launch, placed_[i].at_once, request_.code);
            const Bounds bounds = round.bounds();
            SizeResult& own = out_.sizes[i];
            own.fate = Fate::inferior;
            own.best_ns = bounds.best_cycles * own.rounds / launch->sm_clock_hz * 1e9;
            own.worst_ns = bounds.worst_cycles * own.rounds / launch->sm_clock_hz * 1e9;
            const auto [known, is_new] = batches.emplace(round.signature(), i);
            if (is_new) continue;
            const std::size_t other = known->second, kept = comes_first(i, other) ? i : other;
            const std::size_t left = kept == i ? other : i;
            out_.sizes[left].fate = Fate::duplicate;
            out_.sizes[left].representative = kept;
            known->second = kept;
        }
        out_.batches = batches.size();
        // Section 6.2.
        std::vector<std::size_t> all;
        std::vector<double> best, worst;
        for (const auto& [signature, i] : batches) {
            all.push_back(i);
            best.push_back(out_.sizes[i].best_ns);
            worst.push_back(out_.sizes[i].worst_ns);
        }
        const std::vector<bool> kept = not_inferior(best, worst);
        for (std::size_t r = 0; r < kept.size(); ++r)
            if (kept[r]) simulate(all[r]);
    }

    void settle() {
        out_.best = out_.sizes.size();
        for (std::size_t i = 0; i < out_.sizes.size(); ++i) {
            const SizeResult& one = out_.sizes[i];
            if (one.fate != Fate::simulated) continue;
            const bool is_first = out_.best == out_.sizes.size();
            const double known = is_first ? 0 : out_.sizes[out_.best].ns;
            if (is_first || one.ns < known || (one.ns == known && tie_goes_to(i, out_.best))) out_.best = i;
        }
        for (SizeResult& one : out_.sizes) {
            if (one.fate != Fate::duplicate) continue;
            // A representative may have been put out by a later one.
            while (out_.sizes[one.representative].fate == Fate::duplicate)
                one.representative = out_.sizes[one.representative].representative;
            one.ns = out_.sizes[one.representative].ns;
        }
    }
    [[nodiscard]] bool tie_goes_to(std::size_t a, std::size_t b) const {
        const SizeResult &left = out_.sizes[a], &right = out_.sizes[b];
        if (items(left.size) != items(right.size)) return items(left.size) < items(right.size);
        return left.size.x > right.size.x;
    }

    const PruneRequest& request_;
    std::uint32_t sm_count_;
    std::vector<GroupPlacement> placed_;
    std::map<std::size_t, double> rounds_;  // of screened: a round's estimate, by size
    std::vector<std::size_t> looked_at_;
    double best_ns_ = std::numeric_limits<double>::infinity();
    std::size_t asked_ = 0;
    PruneResult out_;
};

}  // namespace

std::string_view name(Method method) {
    constexpr std::array<std::string_view, 4> names{"screened", "ordered", "algorithm-4", "exhaustive"};
    return names[static_cast<std::size_t>(method)];
}

std::string_view name(Fate fate) {
    constexpr std::array<std::string_view, 5> names{"refused", "unlikely", "duplicate", "inferior",
                                                    "simulated"};
    return names[static_cast<std::size_t>(fate)];
}

std::vector<trimtab_dim3> design_space(unsigned dimensions, std::uint32_t most) {
    std::vector<trimtab_dim3> out;
    for (std::uint32_t x = 1; x <= most; ++x)
        for (std::uint32_t y = 1; y <= (dimensions > 1 ? most / x : 1); ++y)
            for (std::uint32_t z = 1; z <= (dimensions > 2 ? most / x / y : 1); ++z) out.push_back({x, y, z});
    return out;
}

std::vector<bool> not_inferior(std::span<const double> best, std::span<const double> worst) {
    // Of all others' upper bounds only the least counts; a launch's own is never below its lower bound.
    const double least = worst.empty() ? 0 : *std::ranges::min_element(worst);
    std::vector<bool> kept;
    for (const double one : best) kept.push_back(!(one > least));
    return kept;
}

PruneResult prune(const PruneRequest& request) {
    return Pruner(request).run();
}

}  // namespace trimtab::pruning
