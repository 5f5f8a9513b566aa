// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/prune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "emulation/opencl/pruning/active_groups.h"
#include "emulation/opencl/pruning/estimate_queue.h"
#include "emulation/opencl/pruning/pipeline.h"

namespace trimtab::pruning {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint64_t items(trimtab_dim3 size) {
    return std::uint64_t{size.x} * size.y * size.z;
}

class Pruner {
  public:
    explicit Pruner(const PruneRequest& request)
        : request_(request),
          sm_count_(std::max(1u, static_cast<std::uint32_t>(request.device->sm_count))),
          rounds_(request.sizes.size()) {}

    PruneResult run() {
        const auto start = Clock::now();
        place();
        // Traces of few sizes cost little.
        constexpr std::size_t few = 512;
        const bool screens =
            request_.settings.method == Method::screened && request_.estimate && out_.launchable > few;
        if (!screens) {
            for (std::size_t i = 0; i < out_.sizes.size(); ++i) {
                if (out_.sizes[i].fate != Fate::refused) make_trace(i);
                if (request_.progress) request_.progress(i + 1, request_.sizes.size());
            }
            for (std::size_t i = 0; i < out_.sizes.size(); ++i)
                if (out_.sizes[i].fate != Fate::refused) join_batch(i);
        }
        switch (request_.settings.method) {
            case Method::screened:
                if (screens) {
                    screen();
                    break;
                }
                [[fallthrough]];
            case Method::ordered:
                search_in_order();
                break;
            case Method::algorithm_4:
                eliminate();
                break;
            case Method::exhaustive:
                for (const std::size_t i : representatives()) bound(i), simulate(i);
                break;
        }
        settle();
        out_.traces = request_.pool->size();
        out_.search_seconds = seconds_since(start) - out_.trace_seconds;
        return std::move(out_);
    }

  private:
    // What the device takes, and in how many rounds (equation (10)).
    void place() {
        const trimtab_device& device = *request_.device;
        const double most_warps =
            std::min(device.max_warps_per_sm, std::floor(device.max_threads_per_sm / device.warp_size));
        for (std::size_t i = 0; i < request_.sizes.size(); ++i) {
            SizeResult result{.size = request_.sizes[i], .representative = i};
            const trimtab_dim3& size = result.size;
            const bool fits = items(size) <= device.max_threads_per_block && size.x <= device.max_block_x &&
                              size.y <= device.max_block_y && size.z <= device.max_block_z;
            const double local_bytes = request_.dynamic_local_bytes +
                                       request_.local_bytes_per_item * static_cast<double>(items(size));
            const ActiveGroups active =
                fits ? active_groups(device, request_.image, static_cast<std::uint32_t>(items(size)),
                                     local_bytes)
                     : ActiveGroups{};
            Placed placed;
            placed.local_bytes = static_cast<std::uint32_t>(local_bytes);
            if (active.groups != 0) {
                const auto placement = GroupPlacement::of(request_.global, size, sm_count_, active.groups);
                result.groups_at_once = placement.at_once;
                result.warps_at_once = placement.at_once * active.warps_per_group;
                result.rounds = static_cast<double>(placement.groups_on_sm) / placement.at_once;
                if (request_.settings.scales_latency)
                    placed.latency_factor = std::max(1.0, most_warps / result.warps_at_once);
                if (placement.groups.x <= device.max_grid_x && placement.groups.y <= device.max_grid_y &&
                    placement.groups.z <= device.max_grid_z) {
                    result.fate = Fate::unlikely;  // until more is known
                    ++out_.launchable;
                }
                placed.placement = placement;
            }
            placed_.push_back(placed);
            out_.sizes.push_back(result);
        }
    }

    void make_trace(std::size_t i) {
        const auto start = Clock::now();
        auto round = request_.traces(placed_[i].placement, placed_[i].local_bytes, placed_[i].latency_factor);
        out_.trace_seconds += seconds_since(start);
        if (!round) {
            out_.sizes[i].fate = Fate::refused;
            --out_.launchable;
            return;
        }
        rounds_[i] = std::move(*round);
        out_.sizes[i].fate = Fate::inferior;  // until more is known
        ++out_.traced;
    }

    // Fewer items, then wider, as in other rankings here.
    [[nodiscard]] bool comes_first(std::size_t a, std::size_t b) const {
        const SizeResult &left = out_.sizes[a], &right = out_.sizes[b];
        if (left.rounds != right.rounds) return left.rounds < right.rounds;
        if (items(left.size) != items(right.size)) return items(left.size) < items(right.size);
        return left.size.x != right.size.x ? left.size.x > right.size.x : a < b;
    }

    // Section 6.1. How warps are grouped counts only where they wait for their group.
    [[nodiscard]] static bool are_equal(const Round& a, const Round& b) {
        return a.warps == b.warps && a.has_barriers == b.has_barriers &&
               (!a.has_barriers || a.warps_per_group == b.warps_per_group);
    }
    // Size i joins those of the same traces, or begins a batch; whichever needs fewer rounds represents it.
    void join_batch(std::size_t i) {
        const Round& round = rounds_[i];
        const std::uint64_t hash =
            XXH3_64bits_withSeed(round.warps.data(), round.warps.size() * sizeof(TraceIndex),
                                 round.has_barriers ? round.warps_per_group : 0);
        const auto [first, last] = batches_.equal_range(hash);
        auto known = first;
        while (known != last && !are_equal(rounds_[known->second], round)) ++known;
        if (request_.settings.method == Method::exhaustive || known == last) {
            batches_.emplace(hash, i);
            ++out_.batches;
            return;
        }
        SizeResult &other = out_.sizes[known->second], &own = out_.sizes[i];
        if (comes_first(i, known->second)) {
            if (other.fate == Fate::simulated) {
                // The same round, which need not be simulated again.
                own.ns = other.ns * own.rounds / other.rounds;
                own.best_ns = other.best_ns * own.rounds / other.rounds;
                own.worst_ns = other.worst_ns * own.rounds / other.rounds;
                own.fate = Fate::simulated;
            }
            other.fate = Fate::duplicate;
            other.representative = i;
            known->second = i;
        } else {
            own.fate = Fate::duplicate;
            own.representative = known->second;
        }
    }
    [[nodiscard]] std::vector<std::size_t> representatives() const {
        std::vector<std::size_t> out;
        for (const auto& [hash, i] : batches_) out.push_back(i);
        std::ranges::sort(out);
        return out;
    }

    [[nodiscard]] double ns(double cycles, double rounds) const {
        return cycles * rounds / request_.device->sm_clock_hz * 1e9;
    }

    void bound(std::size_t i) {
        const bool as_printed =
            request_.settings.method == Method::algorithm_4 && request_.settings.bounds == BoundKind::paper;
        const Bounds bounds = as_printed ? paper_bounds(rounds_[i], *request_.pool, *request_.latencies)
                                         : proved_bounds(rounds_[i], *request_.pool);
        out_.sizes[i].best_ns = ns(bounds.best_cycles, out_.sizes[i].rounds);
        out_.sizes[i].worst_ns = ns(bounds.worst_cycles, out_.sizes[i].rounds);
    }

    void simulate(std::size_t i) {
        SizeResult& result = out_.sizes[i];
        result.ns = ns(round_cycles(rounds_[i], *request_.pool), result.rounds);
        result.fate = Fate::simulated;
        ++out_.simulated;
    }

    void search_in_order() {
        std::vector<std::size_t> order = representatives();
        for (const std::size_t i : order) bound(i);
        std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(out_.sizes[i].best_ns, i); });
        double best = std::numeric_limits<double>::infinity();
        for (const std::size_t i : order) {
            if (!can_gain(out_.sizes[i].best_ns, best)) break;
            simulate(i);
            best = std::min(best, out_.sizes[i].ns);
        }
    }

    [[nodiscard]] bool can_gain(double at_best_ns, double found_ns) const {
        return at_best_ns * (1 + request_.settings.least_gain) <= found_ns;
    }

    // What of a size is left to be found out, in the order of estimates.
    [[nodiscard]] EstimateQueue estimates() {
        std::vector<SizeToEstimate> sizes;
        for (std::size_t i = 0; i < out_.sizes.size(); ++i)
            if (const SizeResult& one = out_.sizes[i]; one.fate != Fate::refused)
                sizes.push_back({.index = i,
                                 .size = one.size,
                                 .groups_at_once = one.groups_at_once,
                                 .warps_at_once = one.warps_at_once,
                                 .rounds = one.rounds});
        return {sizes, [this](std::size_t i) {
                    const auto start = Clock::now();
                    const RoundSums sums = request_.estimate(placed_[i].placement, placed_[i].latency_factor);
                    out_.trace_seconds += seconds_since(start);
                    return ns(sums.best_cycles(), 1);
                }};
    }

    // Sizes are traced in the order of their estimates, and simulated where their bounds say that they may gain. Components that
    // wait for each other are in neither: what the simulation has added to those of all sizes so far, the least, is added to
    // the rest, once as many as the root of the space tell it: thirty of a thousand, ninety of seven thousand.
    void screen() {
        EstimateQueue queue = estimates();
        double best = std::numeric_limits<double>::infinity();
        const double enough = std::sqrt(static_cast<double>(queue.size()));
        double over_estimate = std::numeric_limits<double>::infinity(), over_bound = over_estimate;
        const auto raised = [&](double ratio, std::size_t known) {
            return static_cast<double>(known) < enough ? 1.0 : std::max(ratio, 1.0);
        };
        // By how much a size's time is above its estimate, at least.
        const auto look_at = [&](std::size_t i, bool as_proved) {
            SizeResult& one = out_.sizes[i];
            one.estimate_ns = queue.estimate(i);
            make_trace(i);
            if (one.fate == Fate::refused) return std::numeric_limits<double>::infinity();
            join_batch(i);
            if (request_.progress) request_.progress(out_.sizes.size() - queue.size(), out_.sizes.size());
            double at_least = one.ns;
            if (one.fate == Fate::duplicate) {
                const SizeResult& same = out_.sizes[one.representative];
                at_least = std::max(same.ns, same.best_ns) * one.rounds / same.rounds;
            } else if (one.fate == Fate::inferior) {
                bound(i);
                at_least = one.best_ns * raised(over_bound, out_.simulated);
                if (can_gain(as_proved ? one.best_ns : at_least, best)) {
                    simulate(i);
                    over_bound = std::min(over_bound, one.ns / one.best_ns);
                    at_least = one.ns;
                }
            }
            if (one.fate == Fate::simulated) best = std::min(best, one.ns);
            return at_least / one.estimate_ns;
        };
        // As long as sizes of estimates in [from, to] can gain when so much is added.
        const auto look_at_all = [&](double from, double to, const std::function<double()>& added) {
            for (auto i = queue.first_between(from, to); i && can_gain(queue.estimate(*i) * added(), best);
                 i = queue.first_between(from, to)) {
                queue.take(*i);
                over_estimate = std::min(over_estimate, look_at(*i, false));
            }
        };
        const double all = std::numeric_limits<double>::infinity();
        look_at_all(0, all, [&] { return raised(over_estimate, out_.traced); });
        // The first ones are those of which the estimates saw least. Of all that only what was added to those leaves out a few
        // have their say: what is added to others is the least that the nearest of them have, on either side.
        constexpr std::size_t others = 16, on_a_side = 4;
        const double first_added = raised(over_estimate, out_.traced);
        const std::vector<std::size_t> few =
            queue.take_spread(others, best / (1 + request_.settings.least_gain));
        std::vector<double> added(on_a_side, first_added);
        for (const std::size_t i : few) added.push_back(std::max(1.0, look_at(i, true)));
        for (std::size_t i = 0; i < few.size(); ++i) {
            const auto near = std::span(added).subspan(i, std::min(2 * on_a_side, added.size() - i));
            look_at_all(i == 0 ? 0 : queue.estimate(few[i - 1]), queue.estimate(few[i]),
                        [least = std::ranges::min(near)] { return least; });
        }
        for (std::size_t i = 0; i < out_.sizes.size(); ++i)
            if (out_.sizes[i].fate != Fate::refused) out_.sizes[i].estimate_ns = queue.estimate(i);
    }

    void eliminate() {
        const std::vector<std::size_t> all = representatives();
        std::vector<double> best, worst;
        for (const std::size_t i : all) {
            bound(i);
            best.push_back(out_.sizes[i].best_ns);
            worst.push_back(out_.sizes[i].worst_ns);
        }
        const std::vector<bool> kept = not_inferior(best, worst);
        for (std::size_t r = 0; r < kept.size(); ++r)
            if (kept[r]) simulate(all[r]);
    }

    void settle() {
        out_.best = out_.sizes.size();
        for (const std::size_t i : representatives()) {
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
            const SizeResult& known = out_.sizes[one.representative];
            const double factor = one.rounds / known.rounds;
            one.ns = known.ns * factor;
            one.best_ns = known.best_ns * factor;
            one.worst_ns = known.worst_ns * factor;
        }
    }
    [[nodiscard]] bool tie_goes_to(std::size_t a, std::size_t b) const {
        const SizeResult &left = out_.sizes[a], &right = out_.sizes[b];
        if (items(left.size) != items(right.size)) return items(left.size) < items(right.size);
        return left.size.x > right.size.x;
    }

    const PruneRequest& request_;
    std::uint32_t sm_count_;
    struct Placed {
        GroupPlacement placement;
        std::uint32_t local_bytes = 0;
        double latency_factor = 1;
    };
    std::vector<Placed> placed_;
    std::vector<Round> rounds_;
    std::unordered_multimap<std::uint64_t, std::size_t> batches_;  // of representatives
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
