// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/recorder.h"

#include <algorithm>
#include <array>
#include <bit>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/warp.h"

namespace trimtab::schedule {

namespace {

using emulator::LaneAddresses;
using emulator::MemoryInfo;
using emulator::Warp;
using emulator::warp_lanes;

constexpr unsigned banks = 32, bank_bytes = 4, sector_shift = 5, line_shift = 7;

// Variables of the module lie where this process has them: which sets of a cache they fall into would be another
// thing in every run. They are taken to begin here, below the regions of the arguments.
constexpr std::uint64_t variables_begin = std::uint64_t{1} << 38;

// The addresses of the active lanes.
struct Lanes {
    std::array<std::uint64_t, warp_lanes> address{};
    std::array<std::uint8_t, warp_lanes> lane{};
    unsigned count = 0;

    Lanes(const Warp& w, const MemoryInfo& info, LaneAddresses::Shape shape,
          const emulator::Program& program) {
        for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            std::uint64_t at = 0;
            if (w.at.is_apart)
                at = w.at.seen[lane];
            else if (shape == LaneAddresses::Shape::scattered)
                at = w.at.address[lane];
            else
                at = w.at.first +
                     (shape == LaneAddresses::Shape::uniform ? 0 : std::uint64_t{lane} * info.total_bytes);
            if (at >= program.variables_first() && at < program.variables_end())
                at += variables_begin - program.variables_first();
            this->lane[count] = static_cast<std::uint8_t>(lane);
            address[count++] = at;
        }
    }
};

// The lines that a request touches, with their sectors, in no order.
void touch_lines(const Lanes& lanes, unsigned bytes, std::vector<Line>& lines, Request& request) {
    const std::size_t first = lines.size();
    std::size_t last = first;  // where the lane before found its line
    const auto touch = [&](std::uint64_t sector) {
        const std::uint64_t number = sector >> (line_shift - sector_shift);
        const auto bit = static_cast<std::uint8_t>(1u << (sector & 3));
        if (last < lines.size() && lines[last].number == number) {
            lines[last].sectors |= bit;
            return;
        }
        for (last = first; last < lines.size(); ++last)
            if (lines[last].number == number) {
                lines[last].sectors |= bit;
                return;
            }
        lines.push_back({.number = number, .sectors = bit});
    };
    for (unsigned i = 0; i < lanes.count; ++i) {
        const std::uint64_t begin = lanes.address[i] >> sector_shift,
                            end = (lanes.address[i] + std::max(1u, bytes) - 1) >> sector_shift;
        for (std::uint64_t sector = begin; sector <= end; ++sector) touch(sector);
    }
    request.first_line = static_cast<std::uint32_t>(first);
    request.lines = static_cast<std::uint16_t>(lines.size() - first);
    std::array<std::uint16_t, 4> in_bank{};
    for (std::size_t i = first; i < lines.size(); ++i) {
        request.sectors += static_cast<std::uint16_t>(std::popcount(lines[i].sectors));
        for (unsigned bank = 0; bank < in_bank.size(); ++bank) in_bank[bank] += lines[i].sectors >> bank & 1;
    }
    request.in_one_bank = *std::ranges::max_element(in_bank);
}

// What a store takes of L2.
double store_slots(const Lanes& lanes, unsigned bytes, const StoreRules& rules) {
    struct Sector {
        std::uint64_t number = 0;
        std::uint32_t written = 0;  // bits: its bytes
        std::uint8_t quads = 0;     // bits: of lanes that write there
    };
    std::array<Sector, 4 * warp_lanes> sectors;
    unsigned count = 0, last = 0;
    for (unsigned i = 0; i < lanes.count; ++i)
        for (std::uint64_t at = lanes.address[i], end = at + std::max(1u, bytes); at < end;) {
            const std::uint64_t number = at >> sector_shift,
                                next = std::min((number + 1) << sector_shift, end);
            if (last >= count || sectors[last].number != number)
                for (last = 0; last < count && sectors[last].number != number; ++last) {
                }
            if (last == count) {
                if (count == sectors.size()) return static_cast<double>(count);
                sectors[count++] = {.number = number};
            }
            const auto length = static_cast<unsigned>(next - at);
            const std::uint32_t mask = length >= 32 ? ~0u : (1u << length) - 1;
            sectors[last].written |= mask << (at & 31);
            sectors[last].quads |= static_cast<std::uint8_t>(1u << (lanes.lane[i] / 4));
            at = next;
        }
    std::sort(sectors.begin(), sectors.begin() + count,
              [](const Sector& a, const Sector& b) { return a.number < b.number; });
    double slots = 0;
    for (unsigned i = 0; i < count; ++i) {
        const Sector& one = sectors[i];
        const bool is_whole = one.written == ~0u;
        if (is_whole && one.number % 2 == 0 && i + 1 < count && sectors[i + 1].number == one.number + 1 &&
            sectors[i + 1].written == ~0u) {
            slots += 1;
            ++i;
            continue;
        }
        slots += (is_whole ? rules.whole_sector : rules.partial_sector) +
                 rules.fragment * std::popcount(one.quads);
    }
    return slots;
}

// Passes of a request to shared memory: for so many lanes as 128 bytes are, the most distinct words in one
// bank; words that several lanes read are read once. Atomics on one word follow each other.
unsigned shared_passes(const Lanes& lanes, unsigned bytes, bool is_atomic) {
    const unsigned words = std::max(1u, bytes / bank_bytes), together = std::max(1u, banks / words);
    unsigned passes = 0;
    for (unsigned from = 0; from < lanes.count; from += together) {
        std::array<std::array<std::uint64_t, warp_lanes>, banks> seen;
        std::array<unsigned, banks> count{};
        const unsigned to = std::min(lanes.count, from + together);
        for (unsigned i = from; i < to; ++i)
            for (unsigned k = 0; k < words; ++k) {
                const std::uint64_t word = lanes.address[i] / bank_bytes + k;
                auto& own = seen[word % banks];
                unsigned& n = count[word % banks];
                const bool is_known = std::find(own.begin(), own.begin() + n, word) != own.begin() + n;
                if ((is_atomic || !is_known) && n < warp_lanes) own[n++] = word;
            }
        passes += *std::ranges::max_element(count);
    }
    return std::max(1u, passes);
}

// The same elements, if those that the lanes ask for at once were neighbours. Lanes that walk rows together come to
// every element of their lines in turn, whichever way it is laid out: the n-th element of a line stands for the n-th
// of the lines, whole.
void lay_side_by_side(Lanes& lanes, unsigned bytes) {
    if (lanes.count == 0 || bytes == 0) return;
    constexpr std::uint64_t line_bytes = std::uint64_t{1} << line_shift;
    std::array<std::uint64_t, warp_lanes> lines{};
    unsigned count = 0;
    for (unsigned i = 0; i < lanes.count; ++i) {
        const std::uint64_t line = lanes.address[i] >> line_shift;
        if (std::find(lines.begin(), lines.begin() + count, line) == lines.begin() + count)
            lines[count++] = line;
    }
    const std::uint64_t together = std::max<std::uint64_t>(1, lanes.count * bytes / line_bytes),
                        rotation = lanes.address[0] % line_bytes / bytes;
    for (unsigned i = 0; i < lanes.count; ++i) {
        const std::uint64_t offset = std::uint64_t{i} * bytes;
        lanes.address[i] =
            (lines[(rotation * together + offset / line_bytes) % count] << line_shift) + offset % line_bytes;
    }
}

// The most lanes that meet at one address.
unsigned most_at_once(Lanes lanes) {
    std::sort(lanes.address.begin(), lanes.address.begin() + lanes.count);
    unsigned most = 1, run = 1;
    for (unsigned i = 1; i < lanes.count; ++i) {
        run = lanes.address[i] == lanes.address[i - 1] ? run + 1 : 1;
        most = std::max(most, run);
    }
    return most;
}

}  // namespace

BlockTrace& Recorder::block_of(const Warp& w, std::size_t* number) {
    const std::uint64_t index = w.block->linear_index();
    *number = number_of_.at(index);
    return blocks_[*number];
}

void Recorder::block_started(const emulator::Block& block) {
    if (is_over_) return;
    number_of_[block.linear_index()] = blocks_.size();
    const std::size_t warps = (block.thread_count() + warp_lanes - 1) / warp_lanes;
    BlockTrace& trace = blocks_.emplace_back();
    trace.block = block.linear_index();
    trace.warps.resize(warps);
    for (WarpTrace& warp : trace.warps) warp.iterations.assign(code_.code.loops.size(), 0);
    first_.emplace_back(code_.access_count, 0);
    auto& states = warps_.emplace_back(warps);
    for (WarpState& state : states) {
        state.last_step.assign(code_.code.stretches.size(), none);
        state.entered.assign(code_.stretch_at.size(), 0);
    }
}

void Recorder::enters(Warp& w, const emulator::RegionInfo& region) {
    if (is_over_) return;
    std::size_t number = 0;
    BlockTrace& block = block_of(w, &number);
    WarpTrace& trace = block.warps[w.index];
    WarpState& state = warps_[number][w.index];
    ++state.entered[region.slot];
    const std::uint32_t stretch = code_.stretch_at[region.slot];
    if (stretch == none) return;

    const BuiltCode::LoopPlace& place = code_.loops_at[stretch];
    const std::uint32_t depth = w.frame->depth;
    // Loops of this frame that it has left; what called it is still in its own.
    std::size_t own = 0;
    while (own < state.open.size() && state.open[own].depth < depth) ++own;
    std::size_t inside = 0;
    while (own + inside < state.open.size() && inside < place.loops.size() &&
           state.open[own + inside].depth == depth && state.open[own + inside].loop == place.loops[inside])
        ++inside;
    state.open.resize(own + inside);
    const auto begin_iteration = [&](OpenLoop& open) {
        ++open.iteration;
        ++trace.iterations[open.loop];
    };
    if (place.is_header && inside == place.loops.size()) begin_iteration(state.open.back());
    // Entered: at the header, or past it where a path of the warp comes back to one of its loops.
    for (; inside < place.loops.size(); ++inside) {
        state.open.push_back({.loop = place.loops[inside], .depth = depth, .iteration = 0});
        begin_iteration(state.open.back());
    }

    state.last_step[stretch] = none;
    Step step{.stretch = stretch, .first_request = static_cast<std::uint32_t>(trace.requests.size())};
    for (std::size_t d = 0; d < loop_depth && d < state.open.size(); ++d) {
        if (state.open[d].iteration > kept_iterations) {
            cut_short_[state.open[d].loop] = true;
            return skip(w, region, trace, state);
        }
        step.loops[d] = state.open[d].loop;
        step.iteration[d] = static_cast<std::uint16_t>(state.open[d].iteration);
    }
    if (is_cut()) return skip(w, region, trace, state);
    ++steps_;
    state.last_step[stretch] = static_cast<std::uint32_t>(trace.steps.size());
    trace.steps.push_back(step);
    trace.requests.resize(trace.requests.size() + code_.code.stretches[stretch].requests);
}

// Of an iteration that is not kept, for neither are those that follow it.
void Recorder::skip(Warp& w, const emulator::RegionInfo& region, WarpTrace& trace, WarpState& state) {
    const CountedLoop* const loop = counted_.at(region.slot);
    if (loop == nullptr) return;
    std::uint32_t& entered = state.entered[region.slot];
    constexpr std::uint32_t most = 1u << 30;
    if (entered >= most) return;
    const std::uint64_t iterations = skip_iterations(w, *loop, most);
    entered += static_cast<std::uint32_t>(iterations);
    if (loop->back_slot != none) state.entered[loop->back_slot] += static_cast<std::uint32_t>(iterations);
    state.open.back().iteration += iterations;
    trace.iterations[state.open.back().loop] += iterations;
    skipped_ += iterations * loop->instructions;
}

LaneAddresses::Shape Recorder::accesses(Warp& w, const emulator::Op* op, LaneAddresses::Shape shape) {
    if (is_over_ || op->index >= code_.request_at.size()) return shape;
    const BuiltCode::Place& place = code_.request_at[op->index];
    if (place.stretch == none || w.mask == 0) return shape;
    std::size_t number = 0;
    BlockTrace& block = block_of(w, &number);
    const std::uint32_t last = warps_[number][w.index].last_step[place.stretch];
    if (last == none) return shape;
    WarpTrace& trace = block.warps[w.index];
    Request& request = trace.requests[trace.steps[last].first_request + place.request];
    if (request.lanes != 0) return shape;  // a part of the access that is counted already
    const auto& info = *static_cast<const MemoryInfo*>(op->info);
    Lanes lanes(w, info, shape, program_);
    request.lanes = static_cast<std::uint16_t>(lanes.count);
    if (place.is_shared) {
        const unsigned passes = place.is_arranged
                                    ? std::max(1u, lanes.count * info.total_bytes / (banks * bank_bytes))
                                    : shared_passes(lanes, info.total_bytes, info.is_atomic);
        request.passes = static_cast<std::uint16_t>(passes);
        return shape;
    }
    if (place.is_arranged) lay_side_by_side(lanes, info.total_bytes);
    touch_lines(lanes, info.total_bytes, block.lines, request);
    if (place.stores) request.store_slots = static_cast<float>(store_slots(lanes, info.total_bytes, stores_));
    if (place.is_atomic) request.passes = static_cast<std::uint16_t>(most_at_once(lanes));
    const std::uint32_t access = code_.access_at[op->index];
    if (access != none && first_[number][access] == 0)
        first_[number][access] =
            *std::min_element(lanes.address.begin(), lanes.address.begin() + lanes.count);
    return shape;
}

}  // namespace trimtab::schedule
