// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/scheduler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "emulation/schedule/execution.h"
#include "emulation/schedule/warp_state.h"

namespace trimtab::schedule {

namespace {

struct BlockPlace {
    std::uint32_t number = none, warps_left = 0, at_barrier = 0;
    double barrier_cycles = 0, ended_cycles = 0;
};

// A scheduler's warps in the order of their blocks' start, and by their place in it when the next instruction of each
// may issue.
struct Scheduler {
    std::vector<std::uint32_t> warps;
    std::vector<double> ready_cycles;
    std::vector<double> gate;  // never: it is for memory, and waits for the queue there; else nought
    double clock_cycles = 0;
    // In this cycle, whose end is known. Once one instruction has issued, only the same warp's next may join it.
    unsigned issued = 0;
    double cycle_end = 0;
    std::uint32_t last = none;  // the place in `warps` of the one that issued last
    // Of those that may issue, the one that will, and when; to be found anew once a warp's time has changed.
    double next_cycles = never;
    std::uint32_t next = none;
    bool is_stale = true;
    // When the last instructions for memory entered load_store, in a ring: the queue has room for another once the
    // oldest of them has.
    std::vector<double> entered{};
    std::size_t oldest = 0;

    [[nodiscard]] double queue_cycles() const { return entered.empty() ? 0 : entered[oldest]; }
    [[nodiscard]] double cycles_of(std::size_t place, double queue) const {
        return std::max(ready_cycles[place], std::min(gate[place], queue));
    }

    [[nodiscard]] bool can_issue(std::uint32_t place, double at) const {
        return cycles_of(place, queue_cycles()) <= at;
    }
    void end_cycle() {
        clock_cycles = cycle_end;
        issued = 0;
    }

    // The first of all from `first` on, in a circle, of those that can issue at the clock, or soonest after it.
    void find(std::uint32_t first) {
        const auto count = static_cast<std::uint32_t>(warps.size());
        const double queue = queue_cycles();
        next_cycles = never;
        next = none;
        for (std::uint32_t i = 0, place = first; i < count; ++i, place = place + 1 == count ? 0 : place + 1) {
            const double at = cycles_of(place, queue);
            if (at >= next_cycles) continue;
            next_cycles = at;
            next = place;
            if (at <= clock_cycles) break;
        }
    }
    // Of those that can issue at the clock, or soonest after it, the one that has been ready longest. Age alone would
    // starve the youngest where issue slots are short: they would run when all others have ended, by themselves.
    void find_longest_ready() {
        const double queue = queue_cycles();
        next_cycles = never;
        next = none;
        for (std::uint32_t place = 0; place < warps.size(); ++place) {
            const double at = cycles_of(place, queue);
            if (at >= next_cycles) continue;
            next_cycles = at;
            next = place;
        }
    }
    void find_next(Policy policy) {
        is_stale = false;
        if (issued > 0) {
            next = last;
            next_cycles = clock_cycles;
            return;
        }
        const auto count = static_cast<std::uint32_t>(warps.size());
        const std::uint32_t behind = last == none || last + 1 >= count ? 0 : last + 1;
        switch (policy) {
            case Policy::greedy_then_oldest: {
                const double greedy = last == none ? never : cycles_of(last, queue_cycles());
                if (greedy <= clock_cycles) {
                    next_cycles = greedy;
                    next = last;
                    return;
                }
                find_longest_ready();
                if (greedy == next_cycles && greedy != never) next = last;
                return;
            }
            case Policy::loose_round_robin:
                return find(behind);
            case Policy::round_robin:
                break;
        }
        // The first that has neither ended nor waits at a barrier.
        next_cycles = never;
        next = none;
        for (std::uint32_t i = 0; i < count && next == none; ++i) {
            const std::uint32_t place = (behind + i) % count;
            if (ready_cycles[place] == never) continue;
            next = place;
            next_cycles = cycles_of(place, queue_cycles());
        }
    }
};

bool enters_memory(const Instruction& i) {
    return i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::atomic ||
           i.kind == Kind::shared || i.kind == Kind::local;
}

class Emulation {
  public:
    Emulation(const Machine& machine, const Work& work)
        : machine_(machine),
          work_(work),
          code_(work.trace->code),
          execution_(machine, work),
          steps_(work),
          schedulers_(machine.schedulers),
          places_(std::max(1u, work.resident)) {
        std::size_t most_warps = 1;
        for (const BlockTrace& block : work.trace->blocks)
            most_warps = std::max(most_warps, block.warps.size());
        warps_a_place_ = static_cast<std::uint32_t>(most_warps);
        warps_.resize(places_.size() * most_warps);
        place_of_.resize(warps_.size());
        for (Scheduler& scheduler : schedulers_) scheduler.entered.assign(machine.memory_queue, 0);
        for (std::uint32_t w = 0; w < warps_.size(); ++w) {
            Scheduler& scheduler = schedulers_[w % schedulers_.size()];
            place_of_[w] = static_cast<std::uint32_t>(scheduler.warps.size());
            scheduler.warps.push_back(w);
            scheduler.ready_cycles.push_back(never);
            scheduler.gate.push_back(0);
        }
        out_.block_end_cycles.assign(work.blocks, 0);
    }

    Outcome run() {
        for (std::uint32_t place = 0; place < places_.size(); ++place) start_block(place, 0);
        while (true) {
            Scheduler* soonest = nullptr;
            double at = never;
            for (Scheduler& scheduler : schedulers_) {
                if (scheduler.is_stale) scheduler.find_next(machine_.policy);
                const double next = std::max(scheduler.clock_cycles, scheduler.next_cycles);
                if (next >= at) continue;
                at = next;
                soonest = &scheduler;
            }
            if (soonest == nullptr) break;
            issue_from(*soonest, at);
        }
        out_.cycles = std::max(out_.cycles, execution_.arrived_cycles());
        out_.admitted_cycles = execution_.admitted_cycles();
        out_.iterations = steps_.iterations();
        return std::move(out_);
    }

  private:
    // --- warps ---

    // Finds when the warp's next instruction may issue. Those that take no issue slot are passed here.
    void make_ready(WarpState& w) {
        w.ready_cycles = never;
        while (true) {
            if (w.next == w.stretch_end) {
                ++w.step;
                steps_.enter(w);
            }
            if (w.next == nullptr) break;
            const std::uint32_t* registers = code_.registers.data() + w.next->first_register;
            double there = 0;
            for (unsigned i = 0; i < w.next->reads; ++i) there = std::max(there, w.registers[registers[i]]);
            if (w.next->kind != Kind::free) {
                if (w.next->kind == Kind::wait_for_all) there = std::max(there, w.ended_cycles);
                w.ready_cycles = std::max(w.least_cycles, there);
                break;
            }
            for (unsigned i = 0; i < w.next->writes; ++i) w.registers[registers[w.next->reads + i]] = there;
            ++w.next;
        }
        tell_scheduler(w);
    }

    void tell_scheduler(const WarpState& w) {
        const auto number = static_cast<std::size_t>(&w - warps_.data());
        Scheduler& scheduler = schedulers_[number % schedulers_.size()];
        scheduler.ready_cycles[place_of_[number]] = w.ready_cycles;
        scheduler.gate[place_of_[number]] = w.ready_cycles != never && enters_memory(*w.next) ? never : 0;
        scheduler.is_stale = true;
    }

    // --- blocks ---

    void start_block(std::uint32_t place, double at) {
        BlockPlace& block = places_[place];
        block = {};
        const std::size_t traces = work_.trace->blocks.size();
        while (started_ < work_.blocks && block.warps_left == 0) {
            block.number = started_++;
            at = std::max(at, next_start_cycles_);
            next_start_cycles_ = at + machine_.block_gap_cycles;
            const BlockTrace& trace = work_.trace->blocks[block.number % traces];
            for (std::uint32_t i = 0; i < trace.warps.size(); ++i) {
                WarpState& w = warps_[place * warps_a_place_ + i];
                w.block = &trace;
                w.trace = &trace.warps[i];
                w.step = 0;
                w.place = place;
                w.block_number = block.number;
                // Blocks that do as another did touch other memory than it.
                w.salt = (block.number / traces) << 40;
                w.index = i;
                w.least_cycles = w.ended_cycles = w.loads_end_cycles = at;
                w.loops.fill(no_loop);
                w.iteration.fill(0);
                w.registers.assign(code_.register_count, at);
                w.waits.assign(work_.trace->accesses.size(), 1.0 - 1e-9);  // the first one waits, if any
                steps_.enter(w);
                if (w.next != nullptr) make_ready(w);
                if (w.next != nullptr) ++block.warps_left;
            }
            out_.block_end_cycles[block.number] = at;
            if (block.warps_left == 0) at += machine_.block_start_cycles;
        }
        out_.cycles = std::max(out_.cycles, at);
        for (Scheduler& scheduler : schedulers_) put_in_order(scheduler);
    }

    void put_in_order(Scheduler& scheduler) {
        const std::uint32_t last = scheduler.last == none ? none : scheduler.warps[scheduler.last];
        std::ranges::sort(scheduler.warps, {}, [this](std::uint32_t w) {
            return std::tuple(warps_[w].block_number, warps_[w].index, w);
        });
        for (std::uint32_t i = 0; i < scheduler.warps.size(); ++i) {
            const std::uint32_t w = scheduler.warps[i];
            place_of_[w] = i;
            if (w == last) scheduler.last = i;
            tell_scheduler(warps_[w]);
        }
    }

    void end_warp(const WarpState& w) {
        const std::uint32_t place = w.place;
        BlockPlace& block = places_[place];
        block.ended_cycles = std::max(block.ended_cycles, w.ended_cycles);
        --block.warps_left;
        if (block.warps_left != 0) {
            pass_barrier(place);
            return;
        }
        out_.block_end_cycles[block.number] = block.ended_cycles;
        if (started_ < work_.blocks) start_block(place, block.ended_cycles + machine_.block_start_cycles);
    }

    // Lets the block's warps go on if every one that has not ended waits.
    void pass_barrier(std::uint32_t place) {
        BlockPlace& block = places_[place];
        if (block.at_barrier == 0 || block.at_barrier != block.warps_left) return;
        const double at = std::exchange(block.barrier_cycles, 0);
        block.at_barrier = 0;
        const std::uint32_t first = place * warps_a_place_;
        const auto count = static_cast<std::uint32_t>(warps_[first].block->warps.size());
        std::vector<std::uint32_t> ended;
        for (std::uint32_t i = first; i < first + count; ++i) {
            WarpState& w = warps_[i];
            if (w.next == nullptr) continue;
            w.least_cycles = std::max(w.least_cycles, at);
            make_ready(w);
            if (w.next == nullptr) ended.push_back(i);
        }
        for (const std::uint32_t i : ended) end_warp(warps_[i]);
    }

    // --- issue ---

    void issue_from(Scheduler& scheduler, double at) {
        scheduler.clock_cycles = at;
        scheduler.last = scheduler.next;
        scheduler.is_stale = true;
        WarpState& w = warps_[scheduler.warps[scheduler.last]];
        const Instruction& instruction = *w.next;
        const auto number = static_cast<std::size_t>(&scheduler - schedulers_.data());
        if (scheduler.issued == 0) scheduler.cycle_end = at + execution_.take_issue_slot(instruction, number);
        const bool has_slot = ++scheduler.issued < machine_.issues_per_cycle;
        if (!has_slot) scheduler.end_cycle();
        ++out_.warp_instructions;
        const Execution::Done done = execution_.execute(w, at, number);
        const double end = code_.end_in_order(instruction, done.end_cycles, w.loads_end_cycles);
        if (!scheduler.entered.empty() && enters_memory(instruction)) {
            scheduler.entered[scheduler.oldest] = done.memory_cycles;
            scheduler.oldest = (scheduler.oldest + 1) % scheduler.entered.size();
        }
        // One cycle: the next may go in the same where the scheduler has a slot left.
        if (code_.waits_by_counters)
            w.least_cycles = std::max(at, done.started_cycles) + instruction.stall_cycles;
        else
            w.least_cycles =
                instruction.stall_cycles > 1 ? at + instruction.stall_cycles : scheduler.clock_cycles;
        w.ended_cycles = std::max({w.ended_cycles, end, at + 1});
        out_.cycles = std::max(out_.cycles, w.ended_cycles);
        const std::uint32_t* written =
            code_.registers.data() + instruction.first_register + instruction.reads;
        for (unsigned i = 0; i < instruction.writes; ++i) {
            if (code_.waits_by_counters)
                code_.set_counter(w.registers, written[i], end);
            else
                w.registers[written[i]] = end;
        }
        if (work_.timeline != nullptr && work_.timeline->size() < work_.timeline->capacity())
            work_.timeline->push_back(
                {.block = w.block_number,
                 .warp = w.index,
                 .instruction = static_cast<std::uint32_t>(&instruction - code_.instructions.data()),
                 .issue_cycles = at,
                 .end_cycles = end});
        ++w.next;
        if (instruction.kind == Kind::barrier) {
            BlockPlace& block = places_[w.place];
            w.ready_cycles = never;
            scheduler.ready_cycles[scheduler.last] = never;
            ++block.at_barrier;
            block.barrier_cycles = std::max(block.barrier_cycles, end);
            if (has_slot) scheduler.end_cycle();
            pass_barrier(w.place);
            return;
        }
        make_ready(w);
        if (has_slot && !scheduler.can_issue(scheduler.last, at)) scheduler.end_cycle();
        if (w.next == nullptr) end_warp(w);
    }

    const Machine& machine_;
    const Work& work_;
    const Code& code_;
    Execution execution_;
    WarpSteps steps_;
    std::vector<Scheduler> schedulers_;
    std::vector<BlockPlace> places_;
    std::vector<WarpState> warps_;
    std::vector<std::uint32_t> place_of_;  // in their scheduler's order, by warp
    std::uint32_t warps_a_place_ = 1, started_ = 0;
    double next_start_cycles_ = 0;  // blocks are handed out one by one
    Outcome out_;
};

}  // namespace

Outcome emulate(const Machine& machine, const Work& work) {
    if (work.trace->blocks.empty() || machine.schedulers == 0) return {};
    return Emulation(machine, work).run();
}

}  // namespace trimtab::schedule
