#include "schedule/scheduler.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "schedule/line_cache.h"

namespace trimtab::schedule {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct WarpState {
    const BlockTrace* block = nullptr;
    const WarpTrace* trace = nullptr;
    std::size_t step = 0;
    const Instruction* next = nullptr;  // nullptr: it has ended, or its place is empty
    const Instruction* stretch_end = nullptr;
    const Request* request = nullptr;
    std::uint32_t place = 0;  // of its block on the SM
    std::uint32_t block_number = none, index = 0;
    double ready_cycles = never;  // when its next instruction may issue; never: it waits at a barrier
    double least_cycles = 0;      // instructions issue in their order
    double ended_cycles = 0;      // of all that it has issued
    std::array<std::uint16_t, loop_depth> loops{}, turn{};  // of the last step
    std::vector<double> registers;                          // when each is there
    std::vector<double> waits;  // by access: what is left of its share of requests that wait for DRAM
};

struct BlockPlace {
    std::uint32_t number = none, warps_left = 0, at_barrier = 0;
    double barrier_cycles = 0, ended_cycles = 0;
    std::uint64_t salt = 0;
};

struct Scheduler {
    std::vector<std::uint32_t> warps;  // in order of their blocks' start
    double clock_cycles = 0;
    unsigned issued = 0;         // in this cycle
    std::uint32_t last = none;   // the place in `warps` of the one that issued last
    double next_cycles = never;  // when one of its warps may issue, its own clock aside
    bool is_stale = true;        // next_cycles is to be found anew
    // When the last instructions for memory entered load_store, in a ring: the queue has room for another once the
    // oldest of them has.
    std::vector<double> entered{};
    std::size_t oldest = 0;

    [[nodiscard]] double queue_cycles() const { return entered.empty() ? 0 : entered[oldest]; }
};

class Emulation {
  public:
    Emulation(const Machine& machine, const Work& work)
        : machine_(machine),
          work_(work),
          code_(work.trace->code),
          l1_(machine.l1_bytes),
          l2_(machine.l2_bytes),
          admit_cycles_(resource_count * machine.schedulers),
          taken_cycles_(resource_count * machine.schedulers),
          schedulers_(machine.schedulers),
          places_(std::max(1u, work.resident)) {
        pipes_[0] = pipes_[1] = machine.pipes;
        if (work.change != nullptr) {
            Pipe& changed = pipes_[1][index(work.change->resource)];
            changed.latency_cycles *= work.change->latency_factor;
            changed.gap_cycles *= work.change->gap_factor;
        }
        std::size_t most_warps = 1;
        for (const BlockTrace& block : work.trace->blocks)
            most_warps = std::max(most_warps, block.warps.size());
        warps_a_place_ = static_cast<std::uint32_t>(most_warps);
        warps_.resize(places_.size() * most_warps);
        for (Scheduler& scheduler : schedulers_) scheduler.entered.assign(machine.memory_queue, 0);
        for (std::uint32_t w = 0; w < warps_.size(); ++w)
            schedulers_[w % schedulers_.size()].warps.push_back(w);
        out_.turns.assign(code_.loops.size(), 0);
        out_.block_end_cycles.assign(work.blocks, 0);
    }

    Outcome run() {
        for (std::uint32_t place = 0; place < places_.size(); ++place) start_block(place, 0);
        while (true) {
            Scheduler* soonest = nullptr;
            double at = never;
            for (Scheduler& scheduler : schedulers_) {
                const double next = next_issue(scheduler);
                if (next >= at) continue;
                at = next;
                soonest = &scheduler;
            }
            if (soonest == nullptr) break;
            issue_from(*soonest, at);
        }
        for (std::size_t r = 0; r < resource_count; ++r)
            for (std::size_t s = 0; s < machine_.schedulers; ++s)
                out_.admitted_cycles[r] =
                    std::max(out_.admitted_cycles[r], taken_cycles_[r * machine_.schedulers + s]);
        return std::move(out_);
    }

  private:
    // --- steps of a warp ---

    [[nodiscard]] bool is_kept(const Step& step) const {
        if (work_.caps.empty()) return true;
        for (std::size_t d = 0; d < loop_depth && step.loops[d] != no_loop; ++d)
            if (step.turn[d] > work_.caps[step.loops[d]]) return false;
        return true;
    }

    void count_turns(WarpState& w, const Step& step) {
        bool is_new = false;  // with a loop's turn, those of the loops in it are
        for (std::size_t d = 0; d < loop_depth; ++d) {
            is_new = is_new || step.loops[d] != w.loops[d] || step.turn[d] != w.turn[d];
            if (is_new && step.loops[d] != no_loop) ++out_.turns[step.loops[d]];
        }
        w.loops = step.loops;
        w.turn = step.turn;
    }

    // The next step that is kept and has instructions, from `w.step` on; the warp ends where there is none.
    void enter_step(WarpState& w) {
        w.next = nullptr;
        for (; w.step < w.trace->steps.size(); ++w.step) {
            const Step& step = w.trace->steps[w.step];
            if (!is_kept(step)) continue;
            count_turns(w, step);
            const Stretch& stretch = code_.stretches[step.stretch];
            if (stretch.count == 0) continue;
            w.next = code_.instructions.data() + stretch.first;
            w.stretch_end = w.next + stretch.count;
            w.request = w.trace->requests.data() + step.first_request;
            return;
        }
    }

    // Finds when the warp's next instruction may issue. Those that take no issue slot are passed here.
    void make_ready(WarpState& w) {
        schedulers_[static_cast<std::size_t>(&w - warps_.data()) % schedulers_.size()].is_stale = true;
        w.ready_cycles = never;
        while (true) {
            if (w.next == w.stretch_end) {
                ++w.step;
                enter_step(w);
            }
            if (w.next == nullptr) return;
            const std::uint32_t* registers = code_.registers.data() + w.next->first_register;
            double there = 0;
            for (unsigned i = 0; i < w.next->reads; ++i) there = std::max(there, w.registers[registers[i]]);
            if (w.next->kind != Kind::free) {
                if (w.next->kind == Kind::wait_for_all) there = std::max(there, w.ended_cycles);
                w.ready_cycles = std::max(w.least_cycles, there);
                return;
            }
            for (unsigned i = 0; i < w.next->writes; ++i) w.registers[registers[w.next->reads + i]] = there;
            ++w.next;
        }
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
            // Blocks that do as another did touch other memory than it.
            block.salt = (block.number / traces) << 40;
            for (std::uint32_t i = 0; i < trace.warps.size(); ++i) {
                WarpState& w = warps_[place * warps_a_place_ + i];
                w.block = &trace;
                w.trace = &trace.warps[i];
                w.step = 0;
                w.place = place;
                w.block_number = block.number;
                w.index = i;
                w.least_cycles = w.ended_cycles = at;
                w.loops.fill(no_loop);
                w.turn.fill(0);
                w.registers.assign(code_.register_count, at);
                w.waits.assign(work_.trace->accesses.size(), 1.0 - 1e-9);  // the first one waits, if any
                enter_step(w);
                if (w.next != nullptr) make_ready(w);
                if (w.next != nullptr) ++block.warps_left;
            }
            out_.block_end_cycles[block.number] = at;
            if (block.warps_left == 0) at += machine_.block_start_cycles;
        }
        out_.cycles = std::max(out_.cycles, at);
        for (Scheduler& scheduler : schedulers_) {
            const std::uint32_t last = scheduler.last == none ? none : scheduler.warps[scheduler.last];
            std::ranges::sort(scheduler.warps, {}, [this](std::uint32_t w) {
                return std::tuple(warps_[w].block_number, warps_[w].index, w);
            });
            if (last != none)
                scheduler.last = static_cast<std::uint32_t>(std::ranges::find(scheduler.warps, last) -
                                                            scheduler.warps.begin());
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

    // --- schedulers ---

    double next_issue(Scheduler& scheduler) {
        if (scheduler.is_stale) {
            scheduler.is_stale = false;
            scheduler.next_cycles = never;
            if (machine_.policy == Policy::round_robin) {
                if (const auto turn = next_in_turn(scheduler); turn != none)
                    scheduler.next_cycles = can_issue_at(scheduler, scheduler.warps[turn]);
            } else {
                for (const std::uint32_t w : scheduler.warps)
                    scheduler.next_cycles = std::min(scheduler.next_cycles, can_issue_at(scheduler, w));
            }
        }
        return std::max(scheduler.clock_cycles, scheduler.next_cycles);
    }

    [[nodiscard]] static bool enters_memory(const Instruction& i) {
        return i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::atomic ||
               i.kind == Kind::shared || i.kind == Kind::local;
    }

    [[nodiscard]] double can_issue_at(const Scheduler& scheduler, std::uint32_t warp) const {
        const WarpState& w = warps_[warp];
        if (w.ready_cycles == never || !enters_memory(*w.next)) return w.ready_cycles;
        return std::max(w.ready_cycles, scheduler.queue_cycles());
    }

    // Behind the warp that issued last: the first that has neither ended nor waits at a barrier.
    [[nodiscard]] std::uint32_t next_in_turn(const Scheduler& scheduler) const {
        const auto count = static_cast<std::uint32_t>(scheduler.warps.size());
        const std::uint32_t first = scheduler.last == none ? 0 : scheduler.last + 1;
        for (std::uint32_t i = 0; i < count; ++i)
            if (warps_[scheduler.warps[(first + i) % count]].ready_cycles != never)
                return (first + i) % count;
        return none;
    }

    [[nodiscard]] std::uint32_t choose(const Scheduler& scheduler, double at) const {
        if (machine_.policy == Policy::round_robin) return next_in_turn(scheduler);
        const auto count = static_cast<std::uint32_t>(scheduler.warps.size());
        const auto can = [&](std::uint32_t i) { return can_issue_at(scheduler, scheduler.warps[i]) <= at; };
        std::uint32_t first = scheduler.last == none ? 0 : scheduler.last + 1;
        if (machine_.policy == Policy::greedy_then_oldest) {
            if (scheduler.last != none && can(scheduler.last)) return scheduler.last;
            first = 0;
        }
        for (std::uint32_t i = 0; i < count; ++i)
            if (can((first + i) % count)) return (first + i) % count;
        return first % count;
    }

    void issue_from(Scheduler& scheduler, double at) {
        if (at > scheduler.clock_cycles) scheduler.issued = 0;
        scheduler.clock_cycles = at;
        scheduler.last = choose(scheduler, at);
        scheduler.is_stale = true;
        WarpState& w = warps_[scheduler.warps[scheduler.last]];
        const Instruction& instruction = *w.next;
        if (++scheduler.issued >= machine_.issues_per_cycle) {
            scheduler.clock_cycles = at + 1;
            scheduler.issued = 0;
        }
        ++out_.warp_instructions;
        set_ = pipes_[work_.change != nullptr &&
                              (work_.change->region == none || work_.change->region == instruction.region)
                          ? 1
                          : 0]
                   .data();
        scheduler_ = static_cast<std::size_t>(&scheduler - schedulers_.data());
        const double end = execute(w, instruction, at);
        if (!scheduler.entered.empty() && enters_memory(instruction)) {
            scheduler.entered[scheduler.oldest] = memory_cycles_;
            scheduler.oldest = (scheduler.oldest + 1) % scheduler.entered.size();
        }
        // One cycle: the next may go in the same where the scheduler has a slot left.
        if (code_.waits_by_counters)
            w.least_cycles = std::max(at, started_cycles_) + instruction.stall_cycles;
        else
            w.least_cycles =
                instruction.stall_cycles > 1 ? at + instruction.stall_cycles : scheduler.clock_cycles;
        w.ended_cycles = std::max({w.ended_cycles, end, at + 1});
        out_.cycles = std::max(out_.cycles, w.ended_cycles);
        const std::uint32_t* written =
            code_.registers.data() + instruction.first_register + instruction.reads;
        for (unsigned i = 0; i < instruction.writes; ++i) {
            double& there = w.registers[written[i]];
            there = code_.waits_by_counters ? std::max(there, end) : end;
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
            ++block.at_barrier;
            block.barrier_cycles = std::max(block.barrier_cycles, end);
            pass_barrier(w.place);
            return;
        }
        make_ready(w);
        if (w.next == nullptr) end_warp(w);
    }

    // --- resources ---

    [[nodiscard]] double latency(Resource resource) const { return set_[index(resource)].latency_cycles; }

    struct Admitted {
        double first_cycles = 0, last_cycles = 0;  // the first slot's and the last one's start
    };
    Admitted admit(Resource resource, double at, double slots) {
        const Pipe& pipe = set_[index(resource)];
        const std::size_t i = index(resource) * machine_.schedulers + (pipe.per_scheduler ? scheduler_ : 0);
        const double first = std::max(at, admit_cycles_[i]), cycles = pipe.gap_cycles * slots;
        if (resource == Resource::load_store) memory_cycles_ = first;
        admit_cycles_[i] = first + cycles;
        taken_cycles_[i] += cycles;
        return {first, first + std::max(0.0, cycles - pipe.gap_cycles)};
    }

    // When what the instruction writes is there.
    double execute(WarpState& w, const Instruction& i, double at) {
        const Request* const request = i.has_request ? w.request++ : nullptr;
        started_cycles_ = memory_cycles_ = at;
        if (request != nullptr && request->lanes == 0) return at + 1;
        switch (i.kind) {
            case Kind::load:
                return load(w, i, *request, at);
            case Kind::store:
                return store(w, i, *request, at);
            case Kind::atomic:
                return atomic(i, *request, at);
            case Kind::shared: {
                const Admitted entered = admit(Resource::load_store, at, i.slots);
                const double done =
                    admit(Resource::shared, entered.first_cycles, request->passes).last_cycles;
                return i.ends_when_issued ? done : done + latency(Resource::shared);
            }
            case Kind::local: {
                if (request != nullptr)
                    return i.ends_when_issued ? store(w, i, *request, at) : load(w, i, *request, at);
                const Admitted entered = admit(Resource::load_store, at, i.slots);
                const double done = admit(Resource::l1, entered.first_cycles, i.slots).last_cycles;
                return i.ends_when_issued ? done : done + latency(Resource::l1);
            }
            case Kind::free:
            case Kind::arithmetic:
            case Kind::constant:
            case Kind::barrier:
            case Kind::wait_for_all:
                break;
        }
        const Admitted entered = admit(i.resource, at, i.slots);
        started_cycles_ = entered.first_cycles;
        double end = entered.last_cycles + latency(i.resource);
        if (i.second_slots > 0)
            end = std::max(
                end, admit(i.second, entered.first_cycles, i.second_slots).last_cycles + latency(i.second));
        return end + i.extra_latency_cycles;
    }

    // Of the request's sectors those that the caches lack, which hold them from now on.
    struct Missing {
        unsigned segments_in_l1 = 0, in_l2 = 0;
        double there_cycles = 0, in_l2_cycles = 0;  // when what others wait for is there
    };
    Missing look_up(const WarpState& w, const Request& request, bool through_l1) {
        Missing missing;
        filled_.clear();
        fetched_.clear();
        const Line* lines = w.block->lines.data() + request.first_line;
        for (unsigned n = 0; n < request.lines; ++n) {
            const BlockPlace& place = places_[w.place];
            const std::uint64_t number = lines[n].number ^ place.salt;
            std::uint8_t wanted = lines[n].sectors;
            if (through_l1 && l1_.is_there()) {
                const auto found = l1_.find(number, wanted);
                missing.there_cycles = std::max(missing.there_cycles, *found.there_cycles);
                wanted = found.missing;
                if (wanted != 0) filled_.push_back(found.there_cycles);
            }
            if (wanted == 0) continue;
            missing.segments_in_l1 += static_cast<unsigned>(std::popcount((wanted | wanted >> 1) & 5u));
            if (l2_.is_there()) {
                // What blocks have in common, those of this SM too, is in KernelTrace::accesses.
                const auto found = l2_.find(lines[n].number ^ std::uint64_t{place.number + 1} << 40, wanted);
                missing.in_l2_cycles = std::max(missing.in_l2_cycles, *found.there_cycles);
                wanted = found.missing;
                if (wanted != 0) fetched_.push_back(found.there_cycles);
            }
            missing.in_l2 += static_cast<unsigned>(std::popcount(wanted));
        }
        return missing;
    }

    // A thread's own memory is shared by nobody.
    [[nodiscard]] Access access_of(const Instruction& i) const {
        return i.access != none ? work_.trace->accesses[i.access] : Access{};
    }

    double load(WarpState& w, const Instruction& i, const Request& request, double at) {
        double entered = admit(Resource::load_store, at, i.slots).first_cycles;
        double from_texture = 0;
        if (i.resource == Resource::texture) {
            entered = admit(Resource::texture, entered, request.sectors).first_cycles;
            from_texture = std::max(0.0, latency(Resource::texture) - latency(Resource::l1));
        }
        const Admitted tags =
            admit(Resource::l1, entered,
                  std::max<double>(request.lines, request.sectors / machine_.l1_sectors_a_slot));
        const Missing missing = look_up(w, request, i.caches_in_l1);
        double end = std::max(tags.last_cycles + latency(Resource::l1), missing.there_cycles);
        if (missing.segments_in_l1 > 0) {
            const Admitted l2 = admit(Resource::l2, tags.first_cycles, missing.segments_in_l1);
            end = std::max({end, l2.last_cycles + latency(Resource::l2), missing.in_l2_cycles});
            if (missing.in_l2 > 0 && (i.access != none || i.kind == Kind::local)) {
                const Access access = access_of(i);
                const Admitted dram =
                    admit(Resource::dram, l2.first_cycles, missing.in_l2 * access.dram_sectors);
                double always = 0;
                double& waits = i.access != none ? w.waits[i.access] : always;
                waits += access.dram_waits;
                if (waits >= 1) {
                    waits -= 1;
                    end = std::max(end, dram.last_cycles + latency(Resource::dram));
                    for (double* there : fetched_) *there = end;
                }
            }
            for (double* there : filled_) *there = end;
        }
        return end + from_texture;
    }

    double store(WarpState& w, const Instruction& i, const Request& request, double at) {
        const Admitted entered = admit(Resource::load_store, at, i.slots);
        const Admitted tags = admit(Resource::l1, entered.first_cycles, request.lines);
        const Admitted l2 = admit(Resource::l2, tags.first_cycles, request.store_slots);
        const Missing missing = look_up(w, request, i.kind == Kind::local);
        if (i.access != none || i.kind == Kind::local)
            admit(Resource::dram, l2.first_cycles, missing.in_l2 * access_of(i).dram_sectors);
        // The launch ends when it has arrived; its block does not wait for it.
        out_.cycles = std::max(out_.cycles, l2.last_cycles + latency(Resource::l2));
        return entered.last_cycles;
    }

    double atomic(const Instruction& i, const Request& request, double at) {
        const Admitted entered = admit(Resource::load_store, at, i.slots);
        const Admitted tags = admit(Resource::l1, entered.first_cycles, request.lines);
        const Admitted l2 = admit(Resource::l2, tags.first_cycles, request.store_slots);
        const Admitted done = admit(Resource::atomic, l2.first_cycles, request.passes);
        const double end =
            std::max(done.last_cycles + latency(Resource::atomic), l2.last_cycles) + latency(Resource::l2);
        out_.cycles = std::max(out_.cycles, end);
        return i.ends_when_issued ? entered.last_cycles : end;
    }

    const Machine& machine_;
    const Work& work_;
    const Code& code_;
    LineCache l1_, l2_;                                      // what of L2 holds this SM's data
    std::array<std::array<Pipe, resource_count>, 2> pipes_;  // as they are, and with the change
    const Pipe* set_ = nullptr;                              // of the two, that of this instruction
    std::size_t scheduler_ = 0;                              // that issues it
    std::vector<double> admit_cycles_, taken_cycles_;        // by resource and scheduler
    std::vector<Scheduler> schedulers_;
    std::vector<BlockPlace> places_;
    std::vector<WarpState> warps_;
    std::vector<double*> filled_, fetched_;  // in L1 and L2, by the request that is looked up
    std::uint32_t warps_a_place_ = 1, started_ = 0;
    double memory_cycles_ = 0;      // when load_store took what issued last
    double started_cycles_ = 0;     // when the pipe took the instruction that issued last
    double next_start_cycles_ = 0;  // blocks are handed out one by one
    Outcome out_;
};

}  // namespace

Outcome emulate(const Machine& machine, const Work& work) {
    if (work.trace->blocks.empty() || machine.schedulers == 0) return {};
    return Emulation(machine, work).run();
}

}  // namespace trimtab::schedule
