// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/execution.h"

#include <algorithm>
#include <bit>

namespace trimtab::schedule {

namespace {

// What code outside a loop has brought, once or once in many of the loop's iterations, does not stand for what
// later iterations would find, which the trace leaves out.
struct BroughtOutside {
    const Code& code;
    std::uint16_t loop = no_loop;  // no_loop: nothing is left out

    bool operator()(std::uint16_t reader) const {
        if (loop == no_loop) return false;
        if (reader == no_loop) return true;
        for (std::uint32_t outer = code.loops[loop].parent; outer != none; outer = code.loops[outer].parent)
            if (outer == reader) return true;
        return false;
    }
};

}  // namespace

Execution::Execution(const Machine& machine, const Work& work)
    : machine_(machine),
      work_(work),
      code_(work.trace->code),
      l1_(machine.l1_bytes),
      l2_(machine.l2_bytes),
      admit_cycles_(resource_count * machine.schedulers),
      taken_cycles_(resource_count * machine.schedulers),
      owed_in_l1_(work.trace->accesses.size() + 1),
      owed_in_l2_(work.trace->accesses.size() + 1) {
    pipes_[0] = pipes_[1] = machine.pipes;
    if (work.change == nullptr) return;
    Pipe& changed = pipes_[1][index(work.change->resource)];
    changed.latency_cycles *= work.change->latency_factor;
    changed.gap_cycles *= work.change->gap_factor;
}

std::array<double, resource_count> Execution::admitted_cycles() const {
    std::array<double, resource_count> out{};
    for (std::size_t r = 0; r < resource_count; ++r)
        for (std::size_t s = 0; s < machine_.schedulers; ++s)
            out[r] = std::max(out[r], taken_cycles_[r * machine_.schedulers + s]);
    return out;
}

Execution::Admitted Execution::admit(Resource resource, double at, double slots) {
    const Pipe& pipe = set_[index(resource)];
    const std::size_t i = index(resource) * machine_.schedulers + (pipe.per_scheduler ? scheduler_ : 0);
    const double first = std::max(at, admit_cycles_[i]), cycles = pipe.gap_cycles * slots;
    if (resource == Resource::load_store) done_.memory_cycles = first;
    admit_cycles_[i] = first + cycles;
    taken_cycles_[i] += cycles;
    return {first, first + std::max(0.0, cycles - pipe.gap_cycles)};
}

void Execution::choose_pipes(const Instruction& instruction) {
    const bool is_changed = work_.change != nullptr &&
                            (work_.change->region == none || work_.change->region == instruction.region);
    set_ = pipes_[is_changed ? 1 : 0].data();
}

double Execution::take_issue_slot(const Instruction& instruction, std::size_t scheduler) {
    choose_pipes(instruction);
    const double cycles = set_[index(Resource::issue)].gap_cycles;
    taken_cycles_[index(Resource::issue) * machine_.schedulers + scheduler] += cycles;
    return cycles;
}

Execution::Done Execution::execute(WarpState& w, double at, std::size_t scheduler) {
    const Instruction& instruction = *w.next;
    choose_pipes(instruction);
    scheduler_ = scheduler;
    done_.started_cycles = done_.memory_cycles = at;
    done_.end_cycles = end_of(w, instruction, at);
    return done_;
}

double Execution::end_of(WarpState& w, const Instruction& i, double at) {
    const Request* const request = i.has_request ? w.request++ : nullptr;
    if (request != nullptr && request->lanes == 0) return at + 1;
    if (request != nullptr && w.block != nullptr) lines_ = w.block->lines.data() + request->first_line;
    switch (i.kind) {
        case Kind::load:
            return load(w, i, *request, at);
        case Kind::store:
            return store(w, i, *request, at);
        case Kind::atomic:
            return atomic(i, *request, at);
        case Kind::shared: {
            const Admitted entered = admit(Resource::load_store, at, i.slots);
            const double done = admit(Resource::shared, entered.first_cycles, request->passes).last_cycles;
            return i.ends_when_issued ? done : done + latency(Resource::shared);
        }
        case Kind::local: {
            if (request != nullptr)
                return i.ends_when_issued ? store(w, i, *request, at) : load(w, i, *request, at);
            if (machine_.l1_hit_rate && !(i.ends_when_issued && machine_.has_caches)) {
                const Request own = own_request(w, i);
                return i.ends_when_issued ? store(w, i, own, at) : load(w, i, own, at);
            }
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
    done_.started_cycles = entered.first_cycles;
    double end = entered.last_cycles + latency(i.resource);
    if (i.second_slots > 0)
        end = std::max(end,
                       admit(i.second, entered.first_cycles, i.second_slots).last_cycles + latency(i.second));
    return end + extra_latency(i);
}

// Of a chain of instructions on one pipe: where that has another latency, the chain has.
double Execution::extra_latency(const Instruction& i) const {
    const Resource of = i.waits_for_second ? i.second : i.resource;
    const double as_it_is = pipes_[0][index(of)].latency_cycles;
    return as_it_is > 0 ? i.extra_latency_cycles * latency(of) / as_it_is : i.extra_latency_cycles;
}

bool Execution::misses(std::vector<double>& owed, const Instruction& i, double hit_rate) const {
    constexpr double rounding = 1e-9;
    double& of_access = i.access != none ? owed[i.access] : owed.back();
    of_access += 1 - hit_rate;
    if (of_access < 1 - rounding) return false;
    of_access -= 1;
    return true;
}

Request Execution::own_request(const WarpState& w, const Instruction& i) {
    constexpr std::uint64_t own_memory = std::uint64_t{1} << 32;
    constexpr std::uint8_t all_sectors = 0xf;
    const auto lines = static_cast<std::uint16_t>(std::max(1.0f, i.slots));
    own_lines_.clear();
    for (std::uint16_t n = 0; n < lines; ++n)
        own_lines_.push_back({.number = own_memory + w.index * 64 + n, .sectors = all_sectors});
    lines_ = own_lines_.data();
    return {.lanes = 32,
            .sectors = static_cast<std::uint16_t>(4 * lines),
            .lines = lines,
            .in_one_bank = lines,
            .store_slots = static_cast<float>(2 * lines)};
}

Execution::Missing Execution::look_up(const WarpState& w, const Instruction& i, const Request& request,
                                      bool through_l1, LineCache::Use use) {
    Missing missing;
    filled_.clear();
    fetched_.clear();
    const BroughtOutside brought_outside{code_, w.late_loop};
    const Line* lines = lines_;
    const bool reads = use == LineCache::Use::reads;
    // What blocks have in common, those of this SM too, is in KernelTrace::accesses.
    const std::uint64_t own = std::uint64_t{w.block_number + 1} << 40;
    for (unsigned n = 0; n < request.lines; ++n) {
        std::uint8_t wanted = lines[n].sectors;
        if (through_l1 && reads && machine_.l1_hit_rate) {
            if (!misses(owed_in_l1_, i, *machine_.l1_hit_rate)) wanted = 0;
        } else if (through_l1 && l1_.is_there()) {
            const auto found = l1_.find(lines[n].number ^ w.salt, wanted, use, w.cut_loop, brought_outside);
            missing.there_cycles = std::max(missing.there_cycles, *found.there_cycles);
            wanted = found.missing;
            if (wanted != 0) filled_.push_back(found.there_cycles);
            // What blocks have in common is a share of what each of them needs (below): this one's of what it finds here
            // comes from DRAM all the same.
            const auto there = static_cast<std::uint8_t>(lines[n].sectors & ~wanted);
            if (*found.block == none) *found.block = w.block_number;
            if (*found.block != w.block_number) *found.block = LineCache::several;
            if (*found.block == LineCache::several && reads && there != 0 && !machine_.l2_hit_rate &&
                l2_.is_there())
                missing.brought_by_others += static_cast<unsigned>(std::popcount(
                    l2_.find(lines[n].number ^ own, there, use, w.cut_loop, brought_outside).missing));
        }
        if (wanted == 0) continue;
        missing.segments_in_l1 += static_cast<unsigned>(std::popcount((wanted | wanted >> 1) & 5u));
        if (reads && machine_.l2_hit_rate) {
            if (!misses(owed_in_l2_, i, *machine_.l2_hit_rate)) wanted = 0;
        } else if (l2_.is_there()) {
            const auto found = l2_.find(lines[n].number ^ own, wanted, use, w.cut_loop, brought_outside);
            missing.in_l2_cycles = std::max(missing.in_l2_cycles, *found.there_cycles);
            missing.dirtied_in_l2 += static_cast<unsigned>(std::popcount(found.dirtied));
            wanted = found.missing;
            if (wanted != 0) fetched_.push_back(found.there_cycles);
        } else if (use == LineCache::Use::writes) {
            missing.dirtied_in_l2 += static_cast<unsigned>(std::popcount(wanted));
        }
        missing.in_l2 += static_cast<unsigned>(std::popcount(wanted));
    }
    return missing;
}

// A thread's own memory is shared by nobody.
Access Execution::access_of(const Instruction& i) const {
    return i.access != none ? work_.trace->accesses[i.access] : work_.trace->local;
}

// What is found in L2 of what other SMs have brought is in a measured hit rate.
Access Execution::loaded_access_of(const Instruction& i) const {
    return machine_.l2_hit_rate ? Access{} : access_of(i);
}

double Execution::load(WarpState& w, const Instruction& i, const Request& request, double at) {
    double entered = admit(Resource::load_store, at, i.slots).first_cycles;
    double from_texture = 0;
    if (i.resource == Resource::texture) {
        entered = admit(Resource::texture, entered, request.sectors).first_cycles;
        from_texture = std::max(0.0, latency(Resource::texture) - latency(Resource::l1));
    }
    const Admitted tags =
        admit(Resource::l1, entered,
              std::max<double>(tag_slots(request), request.sectors / machine_.l1_sectors_a_slot));
    const Missing missing =
        look_up(w, i, request, i.caches_in_l1 || i.kind == Kind::local, LineCache::Use::reads);
    double end = std::max(tags.last_cycles + latency(Resource::l1), missing.there_cycles);
    if (missing.brought_by_others > 0 && (i.access != none || i.kind == Kind::local))
        (void)admit(Resource::dram, tags.first_cycles, missing.brought_by_others * access_of(i).dram_sectors);
    if (missing.segments_in_l1 > 0) {
        const Admitted l2 = admit(Resource::l2, tags.first_cycles, missing.segments_in_l1);
        end = std::max({end, l2.last_cycles + latency(Resource::l2), missing.in_l2_cycles});
        if (missing.in_l2 > 0 && (i.access != none || i.kind == Kind::local)) {
            const Access access = loaded_access_of(i);
            const Admitted dram = admit(Resource::dram, l2.first_cycles, missing.in_l2 * access.dram_sectors);
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

double Execution::store(WarpState& w, const Instruction& i, const Request& request, double at) {
    const Admitted entered = admit(Resource::load_store, at, i.slots);
    const Admitted tags = admit(Resource::l1, entered.first_cycles, tag_slots(request));
    const Admitted l2 = admit(Resource::l2, tags.first_cycles, request.store_slots);
    // What is written goes to DRAM when it leaves L2, once however often it was written, and whether it was read before
    // or not. Nothing waits for that, but all of it has to be done: as much as is dirtied now has to go.
    const Missing missing = look_up(w, i, request, i.kind == Kind::local, LineCache::Use::writes);
    if (i.access != none || i.kind == Kind::local)
        taken_cycles_[index(Resource::dram) * machine_.schedulers] +=
            missing.dirtied_in_l2 * access_of(i).dram_sectors * set_[index(Resource::dram)].gap_cycles;
    // The launch ends when it has arrived; its block does not wait for it.
    arrived_cycles_ = std::max(arrived_cycles_, l2.last_cycles + latency(Resource::l2));
    return entered.last_cycles;
}

double Execution::atomic(const Instruction& i, const Request& request, double at) {
    const Admitted entered = admit(Resource::load_store, at, i.slots);
    const Admitted tags = admit(Resource::l1, entered.first_cycles, tag_slots(request));
    const Admitted l2 = admit(Resource::l2, tags.first_cycles, request.store_slots);
    const Admitted done = admit(Resource::atomic, l2.first_cycles, request.passes);
    const double end =
        std::max(done.last_cycles + latency(Resource::atomic), l2.last_cycles) + latency(Resource::l2);
    arrived_cycles_ = std::max(arrived_cycles_, end);
    return i.ends_when_issued ? entered.last_cycles : end;
}

}  // namespace trimtab::schedule
