// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/pruning/bounds.h"

#include <algorithm>
#include <limits>
#include <map>

namespace trimtab::pruning {

namespace {

constexpr std::array memories{Component::lm, Component::cm, Component::gm, Component::cc, Component::gc};

// Equations (16) to (18) for `warps` of one trace.
double memory_cycles(const TraceSums& sums, Component component, double warps, const Latencies& latencies) {
    const std::size_t c = index(component);
    const double accesses = sums.accesses[c];
    if (accesses == 0) return 0;
    const double delay = sums.busy_cycles[c] / accesses;
    const double latency = latencies.latency(component) - latencies.delay(component) + delay;
    return accesses * std::max(warps * delay, latency) + std::min(warps * delay, latency) - delay;
}

}  // namespace

Bounds paper_bounds(const Round& round, const TracePool& pool, const Latencies& latencies) {
    std::map<TraceIndex, double> counts;  // N_i
    for (const TraceIndex warp : round.warps) ++counts[warp];
    double fpu = 0, sfu = 0;
    std::array<double, component_count> greatest{}, sum{};
    for (const auto& [trace, warps] : counts) {
        const TraceSums& sums = pool.sums(trace);
        fpu += warps * sums.busy_cycles[index(Component::fpu)];
        sfu += warps * sums.busy_cycles[index(Component::sfu)];
        for (const Component component : memories) {
            const double cycles = memory_cycles(sums, component, warps, latencies);
            greatest[index(component)] = std::max(greatest[index(component)], cycles);
            sum[index(component)] += cycles;
        }
    }
    Bounds out{.best_cycles = std::max(fpu, sfu), .worst_cycles = fpu + sfu};
    for (const Component component : memories) {
        out.best_cycles = std::max(out.best_cycles, greatest[index(component)]);
        out.worst_cycles += sum[index(component)];
    }
    return out;
}

RoundSums::RoundSums() {
    head_cycles.fill(std::numeric_limits<double>::infinity());
    tail_cycles.fill(std::numeric_limits<double>::infinity());
}

void RoundSums::add(const TraceSums& warp, double count) {
    for (std::size_t c = 0; c < component_count; ++c) {
        if (warp.accesses[c] == 0) continue;
        busy_cycles[c] += count * warp.busy_cycles[c];
        head_cycles[c] = std::min(head_cycles[c], warp.head_cycles[c]);
        tail_cycles[c] = std::min(tail_cycles[c], warp.tail_cycles[c]);
    }
    longest_cycles = std::max(longest_cycles, warp.serial_cycles);
}

double RoundSums::best_cycles() const {
    double best = longest_cycles;
    for (std::size_t c = 0; c < component_count; ++c)
        if (busy_cycles[c] > 0) best = std::max(best, head_cycles[c] + busy_cycles[c] + tail_cycles[c]);
    return best;
}

Bounds proved_bounds(const Round& round, const TracePool& pool) {
    RoundSums all;
    const std::size_t size = round.warps_per_group;
    std::vector<double> phases;
    for (std::size_t first = 0; first < round.warps.size(); first += size) {
        phases.clear();
        for (std::size_t w = first; w < first + size; ++w) {
            const TraceSums& sums = pool.sums(round.warps[w]);
            all.add(sums, 1);
            if (!round.has_barriers) continue;
            if (phases.size() < sums.phase_cycles.size()) phases.resize(sums.phase_cycles.size());
            for (std::size_t p = 0; p < sums.phase_cycles.size(); ++p)
                phases[p] = std::max(phases[p], sums.phase_cycles[p]);
        }
        double together = 0;
        for (const double phase : phases) together += phase;
        all.longest_cycles = std::max(all.longest_cycles, together);
    }
    Bounds out{.best_cycles = all.best_cycles(), .worst_cycles = all.longest_cycles};
    for (const double cycles : all.busy_cycles) out.worst_cycles += cycles;
    return out;
}

}  // namespace trimtab::pruning
