// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/directed_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace trimtab::schedule {

namespace {

// Lanes of a warp, which lie in one row or in several.
constexpr double warp = 32;
// Emulations in a row that gain less than `least_gain` end the search.
constexpr std::size_t patience = 5;
constexpr double least_gain = 0.002;
// How far, in powers of two, what one launch says of others carries; and what a resource's slopes need to be believed,
// in squared powers of two. Chosen on sweeps of PolyBench (bench/README.md), where twice and half do no worse.
constexpr double reach = 2, doubt = 0.5;
constexpr double least_sensitivity = 0.01;

double logarithm(double value) {
    return std::log(std::max(value, 0.5));
}

// What of a candidate is known without emulation, in logarithms.
struct Known {
    std::vector<double> shape;  // values, then lanes in a row
    double load = 0;            // threads of the busiest SM: what it does grows with them
};

// Logarithms of what an emulated launch took.
struct Seen {
    std::size_t candidate = 0;
    double time = 0, rounds = 0;  // of residence: load over warps
    std::array<double, resource_count> cycles{}, gap{};
    double latency = 0;  // sensitivity to all latencies
};

class Directed {
  public:
    Directed(const SearchSpace& space, const EmulateCandidate& emulate, const DirectedOptions& options)
        : space_(space), emulate_(emulate), options_(options), is_tried_(space.candidates.size(), false) {
        for (const Candidate& one : space.candidates) {
            Known known{.shape = {}, .load = logarithm(one.threads_on_sm)};
            for (const double value : one.values) known.shape.push_back(logarithm(value));
            known.shape.push_back(logarithm(std::min(one.width, warp)));
            known_.push_back(std::move(known));
        }
    }

    SearchResult run() {
        std::size_t idle = 0;
        double best = std::numeric_limits<double>::infinity();
        for (auto next = options_.start ? options_.start : first();
             next && result_.steps.size() < options_.most && (!options_.stops || idle < patience);) {
            is_tried_[*next] = true;
            auto emulated = emulate_(*next, true);
            if (!emulated) {
                result_.refused.push_back(*next);
            } else {
                idle = emulated->time_ns < best * (1 - least_gain) ? 0 : idle + 1;
                best = std::min(best, emulated->time_ns);
                see(*next, *emulated);
                result_.steps.push_back({.candidate = *next, .emulated = std::move(*emulated), .why = why_});
            }
            next = seen_.empty() ? first() : promising();
        }
        return std::move(result_);
    }

  private:
    // Most warps, some 256 threads in rows of a warp, the middle of what else there is.
    std::optional<std::size_t> first() {
        std::vector<double> middle(space_.dimensions.size());
        for (std::size_t d = 0; d < middle.size(); ++d) {
            double least = std::numeric_limits<double>::infinity(), most = -least;
            for (const Known& one : known_) {
                least = std::min(least, one.shape[d]);
                most = std::max(most, one.shape[d]);
            }
            middle[d] = (least + most) / 2;
        }
        const auto key = [&](std::size_t c) {
            double off_middle = 0;
            for (std::size_t d = 0; d < middle.size(); ++d)
                off_middle += std::abs(known_[c].shape[d] - middle[d]);
            const Candidate& one = space_.candidates[c];
            return std::tuple(-one.resident_warps.value_or(0), std::abs(std::log(one.threads / 256)),
                              std::abs(std::log(one.width / warp)), off_middle, c);
        };
        std::optional<std::size_t> found;
        for (std::size_t c = 0; c < known_.size(); ++c)
            if (!is_tried_[c] && (!found || key(c) < key(*found))) found = c;
        return found;
    }

    void see(std::size_t candidate, const Emulated& emulated) {
        Seen one{.candidate = candidate, .time = std::log(emulated.time_ns)};
        one.rounds = rounds(candidate, emulated.warps_per_sm);
        double throughput = 0;
        for (const Sensitivity& sensitivity : emulated.bottleneck.all) {
            const double value = std::max(0.0, sensitivity.value);
            if (!sensitivity.is_gap) {
                one.latency += value;
            } else if (value >= least_sensitivity) {
                one.gap[index(sensitivity.resource)] = value;
                throughput += value;
            }
        }
        // Together no more than the whole time.
        one.latency = std::min(one.latency, std::max(0.0, 1 - throughput));
        for (std::size_t r = 0; r < resource_count; ++r)
            one.cycles[r] = std::log(std::max(emulated.cycles[r], 1e-3));
        seen_.push_back(one);
        for (std::size_t r = 0; r < resource_count; ++r) slopes_[r] = slopes(r);
    }

    [[nodiscard]] double rounds(std::size_t candidate, double resident_warps) const {
        const double warps = std::exp(known_[candidate].load) / warp;
        return logarithm(warps) - logarithm(std::min(resident_warps, std::max(1.0, warps)));
    }

    // How the cycles of a resource go with the shape, beside the load: over all pairs of launches seen, by descent in
    // one coordinate after the other.
    [[nodiscard]] std::vector<double> slopes(std::size_t resource) const {
        const std::size_t count = known_.front().shape.size();
        std::vector<double> slope(count, 0);
        constexpr int iterations = 20;
        for (int iteration = 0; iteration < iterations; ++iteration)
            for (std::size_t k = 0; k < count; ++k) {
                double above = 0, below = doubt * std::log(2) * std::log(2);
                for (std::size_t a = 1; a < seen_.size(); ++a)
                    for (std::size_t b = 0; b < a; ++b) {
                        const Known &l = known_[seen_[a].candidate], &r = known_[seen_[b].candidate];
                        double left =
                            seen_[a].cycles[resource] - seen_[b].cycles[resource] - (l.load - r.load);
                        for (std::size_t q = 0; q < count; ++q)
                            if (q != k) left -= slope[q] * (l.shape[q] - r.shape[q]);
                        const double x = l.shape[k] - r.shape[k];
                        above += x * left;
                        below += x * x;
                    }
                slope[k] = above / below;
            }
        return slope;
    }

    // The logarithm of a candidate's time as a launch that was seen has it: every resource that limits it by throughput
    // takes the longer the more cycles the other asks of it, and latencies are waited for in every round.
    [[nodiscard]] double expected(const Seen& one, std::size_t candidate) const {
        const Known &from = known_[one.candidate], &to = known_[candidate];
        double time = one.time;
        for (std::size_t r = 0; r < resource_count; ++r) {
            if (one.gap[r] <= 0) continue;
            double more = to.load - from.load;
            for (std::size_t k = 0; k < to.shape.size(); ++k)
                more += slopes_[r][k] * (to.shape[k] - from.shape[k]);
            time += one.gap[r] * more;
        }
        const std::optional<double>& warps = space_.candidates[candidate].resident_warps;
        const double rounds_there = warps ? rounds(candidate, *warps) : one.rounds + to.load - from.load;
        return time + one.latency * (rounds_there - one.rounds);
    }

    [[nodiscard]] double weight(const Seen& one, std::size_t candidate) const {
        double square = 0;
        for (std::size_t d = 0; d < space_.dimensions.size(); ++d) {
            const double off = (known_[one.candidate].shape[d] - known_[candidate].shape[d]) / std::log(2);
            square += off * off;
        }
        return std::exp(-square / (2 * reach * reach)) + 1e-6;
    }

    std::optional<std::size_t> promising() {
        std::optional<std::size_t> found;
        double least = 0;
        for (std::size_t c = 0; c < known_.size(); ++c) {
            if (is_tried_[c]) continue;
            double sum = 0, weights = 0;
            for (const Seen& one : seen_) {
                const double w = weight(one, c);
                sum += w * expected(one, c);
                weights += w;
            }
            if (found && sum / weights >= least) continue;
            found = c;
            least = sum / weights;
        }
        if (found) why_ = reason(*found);
        return found;
    }

    // What limits the launch that says most of this one, and the way from there.
    [[nodiscard]] std::string reason(std::size_t candidate) const {
        const auto base = std::ranges::max_element(seen_, {}, [&](const Seen& one) {
            return weight(one, candidate) * std::exp(-one.time + seen_[0].time);
        });
        const SearchStep& step = result_.steps[static_cast<std::size_t>(base - seen_.begin())];
        const auto& values = space_.candidates[candidate].values;
        const auto& before = space_.candidates[base->candidate].values;
        std::vector<std::string> moves;
        for (std::size_t d = 0; d < values.size(); ++d)
            if (values[d] != before[d])
                moves.push_back(fmt::format("{} {} -> {}", space_.dimensions[d], before[d], values[d]));
        const auto& all = step.emulated.bottleneck.all;
        const std::string limit = all.empty() ? "nothing"
                                              : fmt::format("{} {}", name(all.front().resource),
                                                            all.front().is_gap ? "throughput" : "latency");
        return fmt::format("{}: {}", limit, fmt::join(moves, ", "));
    }

    const SearchSpace& space_;
    const EmulateCandidate& emulate_;
    DirectedOptions options_;
    std::vector<Known> known_;
    std::vector<bool> is_tried_;
    std::vector<Seen> seen_;  // in step with result_.steps
    std::array<std::vector<double>, resource_count> slopes_{};
    std::string why_ = "start";
    SearchResult result_;
};

}  // namespace

SearchResult directed_search(const SearchSpace& space, const EmulateCandidate& emulate,
                             const DirectedOptions& options) {
    if (space.candidates.empty()) return {};
    return Directed(space, emulate, options).run();
}

}  // namespace trimtab::schedule
