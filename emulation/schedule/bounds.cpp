// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "emulation/schedule/work_count.h"

namespace trimtab::schedule {

namespace {

// A warp that has an SM with any number of units to itself.
class Chain {
  public:
    Chain(const TracedLaunch& launch, const WarpTrace& warp)
        : code_(launch.trace.code), machine_(launch.machine), warp_(warp) {}

    // All iterations included: a loop's later ones show what one more costs.
    double cycles() {
        std::vector<double> few, iterations, more;
        for (const Loop& loop : code_.loops) few.push_back(std::max<double>(1, loop.kept_iterations / 2.0));
        double out = of(few, iterations);
        std::vector<double> left(code_.loops.size());
        for (std::size_t l = 0; l < left.size(); ++l)
            left[l] =
                (l < warp_.iterations.size() ? static_cast<double>(warp_.iterations[l]) : 0) - iterations[l];
        const double base = out;
        // Outer loops come first: an iteration of theirs holds iterations of those within.
        for (std::size_t l = 0; l < left.size(); ++l) {
            if (left[l] < 0.5) continue;
            std::vector<double> caps = few;
            caps[l] = code_.loops[l].kept_iterations;
            const double longer = of(caps, more);
            if (more[l] <= iterations[l]) continue;
            const double factor = left[l] / (more[l] - iterations[l]);
            out += factor * (longer - base);
            for (std::size_t m = 0; m < left.size(); ++m) left[m] -= factor * (more[m] - iterations[m]);
        }
        return out;
    }

  private:
    // With so many iterations of each loop at most, and how many those are.
    double of(const std::vector<double>& caps, std::vector<double>& iterations) {
        iterations.assign(code_.loops.size(), 0);
        there_.assign(code_.register_count, 0);
        at_ = ended_ = loads_end_ = 0;
        const Step* before = nullptr;
        for (const Step& step : warp_.steps) {
            bool is_kept = true, is_new = false;
            for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d)
                is_kept = is_kept && step.iteration[d] <= caps[step.loops[d]];
            if (!is_kept) continue;
            for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d) {
                is_new = is_new || before == nullptr || before->loops[d] != step.loops[d] ||
                         before->iteration[d] != step.iteration[d];
                if (is_new) ++iterations[step.loops[d]];
            }
            before = &step;
            pass(step);
        }
        return ended_;
    }

    void pass(const Step& step) {
        const Stretch& stretch = code_.stretches[step.stretch];
        std::size_t request = step.first_request;
        for (std::uint32_t n = 0; n < stretch.count; ++n) {
            const Instruction& i = code_.instructions[stretch.first + n];
            const std::uint32_t* const registers = code_.registers.data() + i.first_register;
            double ready = i.kind == Kind::free ? 0 : at_;
            for (unsigned r = 0; r < i.reads; ++r) ready = std::max(ready, there_[registers[r]]);
            double end = ready;
            if (i.kind != Kind::free) {
                if (i.kind == Kind::wait_for_all) ready = std::max(ready, ended_);
                const bool touches = !i.has_request || warp_.requests[request].lanes > 0;
                if (i.has_request) ++request;
                end = code_.end_in_order(i, ready + (touches ? latency(i) : 1), loads_end_);
                // The next may join it where a scheduler issues several in a cycle.
                const double slot =
                    machine_.issues_per_cycle > 1 ? 0 : machine_.of(Resource::issue).gap_cycles;
                at_ = ready + (code_.waits_by_counters || i.stall_cycles > 1 ? i.stall_cycles : slot);
                if (i.kind == Kind::barrier) at_ = std::max(at_, end);
                ended_ = std::max({ended_, end, ready + 1});
            }
            for (unsigned r = 0; r < i.writes; ++r) {
                if (code_.waits_by_counters)
                    code_.set_counter(there_, registers[i.reads + r], end);
                else
                    there_[registers[i.reads + r]] = end;
            }
        }
    }

    // The least, every cache hit.
    [[nodiscard]] double latency(const Instruction& i) const {
        const auto of = [&](Resource resource) { return machine_.of(resource).latency_cycles; };
        const auto last_slot = [&](Resource resource, double slots) {
            return std::max(0.0, slots - 1) * machine_.of(resource).gap_cycles;
        };
        switch (i.kind) {
            case Kind::load:
                return i.caches_in_l1 && machine_.l1_bytes > 0 ? of(Resource::l1)
                                                               : std::max(of(Resource::l1), of(Resource::l2));
            case Kind::store:
                return 0;
            case Kind::atomic:
                return i.ends_when_issued ? 0 : of(Resource::l2) + of(Resource::atomic);
            case Kind::shared:
                return i.ends_when_issued ? 0 : of(Resource::shared);
            case Kind::local:
                return i.ends_when_issued ? 0 : of(Resource::l1);
            default:
                break;
        }
        double out = of(i.resource) + last_slot(i.resource, i.slots);
        if (i.second_slots > 0) out = std::max(out, of(i.second) + last_slot(i.second, i.second_slots));
        return out + i.extra_latency_cycles;
    }

    const Code& code_;
    const Machine& machine_;
    const WarpTrace& warp_;
    std::vector<double> there_;  // when each register is
    double at_ = 0, ended_ = 0, loads_end_ = 0;
};

}  // namespace

double chain_cycles(const TracedLaunch& launch) {
    double least = std::numeric_limits<double>::infinity();
    for (const BlockTrace& block : launch.trace.blocks) {
        const auto longest = std::ranges::max_element(
            block.warps, {}, [](const WarpTrace& warp) { return warp.steps.size(); });
        if (longest == block.warps.end()) return 0;
        least = std::min(least, Chain(launch, *longest).cycles());
    }
    return std::isfinite(least) ? least : 0;
}

Bounds bounds(const TracedLaunch& launch) {
    const auto blocks = static_cast<double>(launch.blocks_on_sm);
    const Machine& machine = launch.machine;
    const WorkCount work = work_count(launch.trace, machine, blocks);
    Bounds out;
    const auto at_least = [&](double cycles, std::string_view by) {
        if (cycles <= out.least_cycles) return;
        out.least_cycles = cycles;
        out.least_by = by;
    };
    for (std::size_t r = 0; r < resource_count; ++r)
        at_least(work.cycles[r] / (machine.pipes[r].per_scheduler ? machine.schedulers : 1),
                 name(static_cast<Resource>(r)));
    // Some place for a block has so many of them, one after the other.
    at_least(std::ceil(blocks / launch.resident) * chain_cycles(launch), "dependences");
    out.most_cycles = work.serial_cycles + blocks * (machine.block_gap_cycles + machine.block_start_cycles);
    out.least_cycles *= launch.work_ratio;
    out.most_cycles *= launch.work_ratio;
    return out;
}

}  // namespace trimtab::schedule
