// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/estimate.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <thread>
#include <tuple>

#include "emulation/schedule/kept_work.h"
#include "emulation/schedule/work_count.h"

namespace trimtab::schedule {

namespace {

// Half of the iterations that are kept of each loop.
Caps few_iterations(const Code& code) {
    Caps caps;
    for (const Loop& loop : code.loops) caps.push_back(std::max<std::uint16_t>(1, loop.kept_iterations / 2));
    return caps;
}
// Waves that are emulated whole, at most; of more so many and the rest, and what each further wave adds is what one in
// the midst of them does: the time between the ends of two blocks that are a wave apart. Warps fall in and out of step,
// which moves a wave's time by some per cent: where a wave is no more than so many warp instructions, it is the mean of
// one more.
constexpr std::uint64_t most_whole_waves = 4, small_wave = 250'000;
constexpr std::uint64_t waves_of_small = 4, waves_of_large = 3;

// What grows with iterations and blocks.
struct Totals {
    double cycles = 0, warp_instructions = 0;
    double wave_cycles = 0;  // that a further wave adds
    std::array<double, resource_count> admitted_cycles{};

    // this += factor * (b - a)
    void add(double factor, const Totals& b, const Totals& a) {
        cycles += factor * (b.cycles - a.cycles);
        wave_cycles += factor * (b.wave_cycles - a.wave_cycles);
        warp_instructions += factor * (b.warp_instructions - a.warp_instructions);
        for (std::size_t r = 0; r < resource_count; ++r)
            admitted_cycles[r] += factor * (b.admitted_cycles[r] - a.admitted_cycles[r]);
    }
};

// The time between the ends of two blocks a wave apart, mean of all in the first waves: the last one is left out, for
// fewer and fewer run beside its blocks.
double wave_cycles(std::vector<double> ends, std::size_t resident) {
    const std::size_t waves = ends.size() / resident;
    if (waves < 3) return 0;
    std::ranges::sort(ends);
    const std::size_t apart = (waves - 2) * resident;
    double sum = 0;
    for (std::size_t i = 0; i < resident; ++i) sum += ends[i + apart] - ends[i];
    return sum / static_cast<double>(apart);
}

Totals totals_of(const Outcome& outcome, std::size_t resident) {
    return {.cycles = outcome.cycles,
            .warp_instructions = static_cast<double>(outcome.warp_instructions),
            .wave_cycles = wave_cycles(outcome.block_end_cycles, resident),
            .admitted_cycles = outcome.admitted_cycles};
}

}  // namespace

void keep_within(const Bounds& allowed, Estimate& answer) {
    const double cycles = answer.cycles;
    const bool is_below = cycles < allowed.least_cycles;
    if (!is_below && cycles <= allowed.most_cycles) return;
    answer.cycles = is_below ? allowed.least_cycles : allowed.most_cycles;
    assert(std::abs(answer.cycles - cycles) <= bound_tolerance * answer.cycles);
    answer.crossed = CrossedBound{.emulated_cycles = cycles,
                                  .is_below = is_below,
                                  .by = is_below ? allowed.least_by : "every instruction by itself"};
}

namespace {

class Estimation {
  public:
    Estimation(const TracedLaunch& launch, const Change* change)
        : launch_(launch), change_(change), close_(launch.machine) {
        const Caps few = few_iterations(launch.trace.code);
        const double kept = KeptWork(launch.trace, few).share(few);
        close_.block_gap_cycles *= kept;
        close_.block_start_cycles *= kept;
    }

    Estimate run() {
        const std::uint64_t blocks = launch_.blocks_on_sm, resident = launch_.resident;
        Totals totals;
        if (blocks <= most_whole_waves * resident) {
            totals = of_blocks(static_cast<std::uint32_t>(blocks));
        } else {
            const std::uint64_t waves =
                instructions_of_wave() <= small_wave ? waves_of_small : waves_of_large;
            const std::uint64_t some = waves * resident + blocks % resident;
            totals = of_blocks(static_cast<std::uint32_t>(some));
            const std::uint64_t further_waves = blocks / resident - waves;
            const std::array<double, resource_count> seen_cycles = totals.admitted_cycles;
            scale_to_launch(totals, static_cast<double>(some));
            // A wave of a full SM takes as long as its busiest resource at least, however the few that were seen met.
            double busiest = 0;
            for (std::size_t r = 0; r < resource_count; ++r)
                busiest = std::max(busiest, totals.admitted_cycles[r] - seen_cycles[r]);
            totals.cycles += std::max(static_cast<double>(further_waves) * totals.wave_cycles, busiest);
        }
        add_dispatch(totals);
        // Blocks end without waiting for what they store, nor for atomics whose result nobody reads, and what leaves L2 is
        // written while DRAM has nothing to read: a launch is not over before all of that is done.
        for (const Resource resource :
             {Resource::load_store, Resource::l1, Resource::l2, Resource::dram, Resource::atomic})
            totals.cycles = std::max(totals.cycles, totals.admitted_cycles[index(resource)]);
        Estimate out;
        const double ratio = launch_.work_ratio;
        out.cycles = totals.cycles * ratio;
        out.warp_instructions = totals.warp_instructions * ratio;
        // A change may be of one region only: the bounds know none.
        if (change_ == nullptr) keep_within(bounds(launch_), out);
        out.time_ns = out.cycles / launch_.sm_clock_hz * 1e9 + launch_.launch_overhead_ns;
        const double cycles = std::max(1.0, ratio > 0 ? out.cycles / ratio : totals.cycles);
        for (std::size_t r = 0; r < resource_count; ++r)
            out.utilisation[r] = totals.admitted_cycles[r] / cycles;
        out.emulated_warp_instructions = emulated_;
        return out;
    }

  private:
    // From what so many blocks ask for to what the launch's do. Traced blocks may do unequal work, and those that were
    // emulated hold another mix of them than the launch.
    void scale_to_launch(Totals& totals, double emulated_blocks) const {
        const auto blocks = static_cast<double>(launch_.blocks_on_sm);
        const WorkCount few = work_count(launch_.trace, launch_.machine, emulated_blocks),
                        all = work_count(launch_.trace, launch_.machine, blocks);
        totals.warp_instructions *= blocks / emulated_blocks;
        for (std::size_t r = 0; r < resource_count; ++r)
            totals.admitted_cycles[r] *=
                few.cycles[r] > 0 ? all.cycles[r] / few.cycles[r] : blocks / emulated_blocks;
    }

    // Of the iterations that are emulated, about.
    [[nodiscard]] std::uint64_t instructions_of_wave() const {
        const KernelTrace& trace = launch_.trace;
        std::uint64_t count = 0;
        for (const WarpTrace& warp : trace.blocks.front().warps)
            for (const Step& step : warp.steps) count += trace.code.stretches[step.stretch].count;
        return count * launch_.resident;
    }

    // What is missing of the time between blocks' starts: while the first come one by one and the last end one by one, the
    // SM is short of them, and likewise while one takes another's place. Of that as much shows as of its full load a
    // block takes by itself: where others fill the SM meanwhile, nothing is lost.
    void add_dispatch(Totals& totals) {
        const Machine& machine = launch_.machine;
        const double gap = machine.block_gap_cycles - close_.block_gap_cycles,
                     start = machine.block_start_cycles - close_.block_start_cycles;
        if (launch_.blocks_on_sm < 2 || (gap <= 0 && start <= 0)) return;
        const auto blocks = static_cast<double>(launch_.blocks_on_sm),
                   resident = static_cast<double>(launch_.resident);
        const double alone = of_blocks(1).cycles, waves = std::ceil(blocks / resident);
        const double shows = std::min(1.0, alone * waves / std::max(1.0, totals.cycles));
        totals.cycles += shows * (gap * (std::min(blocks, resident) - 1) + start * (waves - 1));
        // Blocks that are over before the next comes leave nothing but the time between them.
        totals.cycles = std::max(totals.cycles, (blocks - 1) * machine.block_gap_cycles + alone);
    }

    Outcome emulate_with(std::uint32_t blocks, const Caps& caps) {
        Outcome outcome = emulate(close_, {.trace = &launch_.trace,
                                           .resident = launch_.resident,
                                           .blocks = blocks,
                                           .caps = caps,
                                           .change = change_});
        emulated_ += outcome.warp_instructions;
        return outcome;
    }

    // So many blocks, with all iterations of their loops.
    Totals of_blocks(std::uint32_t blocks) {
        const std::size_t loops = launch_.trace.code.loops.size();
        Caps caps = few_iterations(launch_.trace.code);
        const Outcome base = emulate_with(blocks, caps);
        Totals totals = totals_of(base, launch_.resident);
        std::vector<double> left(loops, 0);
        for (std::uint32_t b = 0; b < blocks; ++b)
            for (const WarpTrace& warp : launch_.trace.blocks[b % launch_.trace.blocks.size()].warps)
                for (std::size_t l = 0; l < loops; ++l) left[l] += static_cast<double>(warp.iterations[l]);
        for (std::size_t l = 0; l < loops; ++l) left[l] -= static_cast<double>(base.iterations[l]);
        // Outer loops come first: an iteration of theirs holds iterations of those within.
        for (std::size_t l = 0; l < loops; ++l) {
            if (left[l] < 0.5) continue;
            const std::uint16_t few = caps[l];
            caps[l] = launch_.trace.code.loops[l].kept_iterations;
            const Outcome more = emulate_with(blocks, caps);
            caps[l] = few;
            const double iterations =
                static_cast<double>(more.iterations[l]) - static_cast<double>(base.iterations[l]);
            if (iterations <= 0) continue;
            const double factor = left[l] / iterations;
            totals.add(factor, totals_of(more, launch_.resident), totals_of(base, launch_.resident));
            for (std::size_t m = 0; m < loops; ++m)
                left[m] -= factor * (static_cast<double>(more.iterations[m]) -
                                     static_cast<double>(base.iterations[m]));
        }
        return totals;
    }

    const TracedLaunch& launch_;
    const Change* change_;
    // Where iterations are left out, blocks end early, and an SM that gets its next block as late as ever would stand
    // empty between them: one more iteration would cost nothing. Blocks therefore follow each other the sooner, the fewer
    // of their instructions are kept, and the SM is as full as the launch fills it. All emulations do so alike: warps
    // then meet in the same order in each, and their difference is that of the iterations alone.
    Machine close_;
    std::uint64_t emulated_ = 0;
};

constexpr double raise = 1.1;  // each number, in turn
constexpr std::size_t most_in_regions = 3;

// What a number can be to blame for: a resource that is taken for a share of the time delays by no more than that share
// of what it is slowed down by, and a latency is waited for at most all the time. What is found beyond is another order
// of warps: where they share a cache that just holds what they need, a small delay changes what is found there.
double most_share(const Estimate& base, const Sensitivity& one) {
    return one.is_gap ? base.utilisation[static_cast<std::size_t>(one.resource)] : 1;
}

// The time that others are held against: the median of what is found where nothing that matters was changed, so that
// one order of warps that happens to be quick or slow is not taken for the usual one.
double usual_cycles(const Estimate& base, const std::vector<Sensitivity>& asked,
                    const std::vector<double>& cycles) {
    constexpr double hardly = 0.02;  // of the time: a tenth of that is what such a resource can delay
    std::vector<double> alike{base.crossed ? base.crossed->emulated_cycles : base.cycles};
    for (std::size_t i = 0; i < asked.size(); ++i)
        if (asked[i].is_gap && most_share(base, asked[i]) < hardly) alike.push_back(cycles[i]);
    const auto middle = alike.begin() + static_cast<std::ptrdiff_t>(alike.size() / 2);
    std::ranges::nth_element(alike, middle);
    return *middle;
}

}  // namespace

Estimate estimate(const TracedLaunch& launch, const Change* change) {
    return Estimation(launch, change).run();
}

std::vector<TimelineEntry> timeline(const TracedLaunch& launch, std::size_t count) {
    std::vector<TimelineEntry> entries;
    entries.reserve(count);
    (void)emulate(
        launch.machine,
        {.trace = &launch.trace,
         .resident = launch.resident,
         .blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.blocks_on_sm, launch.resident)),
         .caps = few_iterations(launch.trace.code),
         .timeline = &entries});
    return entries;
}

Bottleneck sensitivities(const TracedLaunch& launch, const Estimate& base, unsigned threads, double least) {
    // The cycles with each asked number raised, in parallel.
    const auto raised_cycles = [&](const std::vector<Sensitivity>& asked) {
        std::vector<double> cycles(asked.size());
        std::atomic<std::size_t> next = 0;
        const auto work = [&] {
            for (std::size_t i = next++; i < asked.size(); i = next++) {
                const Change change{.resource = asked[i].resource,
                                    .latency_factor = asked[i].is_gap ? 1 : raise,
                                    .gap_factor = asked[i].is_gap ? raise : 1,
                                    .region = asked[i].region};
                cycles[i] = estimate(launch, &change).cycles;
            }
        };
        std::vector<std::jthread> helpers;
        for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(work);
        work();
        helpers.clear();
        return cycles;
    };
    Bottleneck out;
    if (base.cycles <= 0) return out;
    for (std::size_t r = 0; r < resource_count; ++r) {
        if (base.utilisation[r] <= 0) continue;
        const auto resource = static_cast<Resource>(r);
        out.all.push_back({.resource = resource, .is_gap = true});
        if (launch.machine.of(resource).latency_cycles > 0) out.all.push_back({.resource = resource});
    }
    const std::vector<double> all_cycles = raised_cycles(out.all);
    const double usual = usual_cycles(base, out.all, all_cycles);
    const auto answer = [&](std::vector<Sensitivity>& asked, const std::vector<double>& cycles) {
        for (std::size_t i = 0; i < asked.size(); ++i)
            asked[i].value = std::min((cycles[i] / usual - 1) / (raise - 1), most_share(base, asked[i]));
        std::ranges::sort(asked, [](const Sensitivity& a, const Sensitivity& b) {
            return std::tuple(-a.value, a.resource, a.is_gap, a.region) <
                   std::tuple(-b.value, b.resource, b.is_gap, b.region);
        });
    };
    answer(out.all, all_cycles);
    const auto regions = static_cast<std::uint32_t>(launch.trace.code.regions.size());
    for (std::size_t i = 0; i < out.all.size() && i < most_in_regions && regions > 1; ++i) {
        if (out.all[i].value < least) break;
        for (std::uint32_t region = 0; region < regions; ++region) {
            out.regions.push_back(out.all[i]);
            out.regions.back().region = region;
        }
    }
    answer(out.regions, raised_cycles(out.regions));
    return out;
}

}  // namespace trimtab::schedule
