// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/trace_writer.h"

#include <algorithm>
#include <cmath>

namespace trimtab::schedule {

namespace {

// Of the iterations of one loop that are left out at once, and of entries into a region.
constexpr std::uint64_t most_entries = 1u << 30;

void add_entries(std::uint32_t& entered, std::uint64_t more) {
    entered = static_cast<std::uint32_t>(std::min(most_entries, entered + std::min(more, most_entries)));
}

}  // namespace

TraceWriter::TraceWriter(const BuiltCode& code, const StoreRules& stores) : code_(code), stores_(stores) {
    out_.cut_short.assign(code.code.loops.size(), false);
    out_.kept.assign(code.code.loops.size(), kept_iterations);
}

std::size_t TraceWriter::begin_block(std::uint64_t linear_index, std::size_t warps) {
    BlockTrace& trace = out_.blocks.emplace_back();
    trace.block = linear_index;
    trace.warps.resize(warps);
    for (WarpTrace& warp : trace.warps) warp.iterations.assign(code_.code.loops.size(), 0);
    out_.first_addresses.emplace_back(code_.access_count, 0);
    out_.entered.emplace_back(warps, std::vector<std::uint32_t>(code_.stretch_at.size(), 0));
    for (WarpState& state : warps_.emplace_back(warps))
        state.last_step.assign(code_.code.stretches.size(), none);
    return out_.blocks.size() - 1;
}

bool TraceWriter::enter(Place at, std::uint32_t slot, std::uint32_t depth) {
    WarpTrace& trace = out_.blocks[at.block].warps[at.warp];
    WarpState& state = warps_[at.block][at.warp];
    ++out_.entered[at.block][at.warp][slot];
    const std::uint32_t stretch = code_.stretch_at[slot];
    if (stretch == none) return true;

    const BuiltCode::LoopPlace& place = code_.loops_at[stretch];
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
        const std::uint16_t loop = state.open[d].loop;
        if (state.open[d].iteration > out_.kept[loop]) {
            out_.cut_short[loop] = true;
            for (std::size_t around = 0; around < d; ++around)
                out_.kept[state.open[around].loop] = kept_iterations_around;
            return false;
        }
        step.loops[d] = loop;
        step.iteration[d] = static_cast<std::uint16_t>(state.open[d].iteration);
    }
    if (is_cut()) return false;
    ++steps_;
    state.last_step[stretch] = static_cast<std::uint32_t>(trace.steps.size());
    trace.steps.push_back(step);
    trace.requests.resize(trace.requests.size() + code_.code.stretches[stretch].requests);
    return true;
}

void TraceWriter::leave_out(Place at, std::uint64_t iterations, std::initializer_list<std::uint32_t> slots) {
    OpenLoop& open = warps_[at.block][at.warp].open.back();
    open.iteration += iterations;
    out_.blocks[at.block].warps[at.warp].iterations[open.loop] += iterations;
    for (const std::uint32_t slot : slots)
        if (slot != none) add_entries(out_.entered[at.block][at.warp][slot], iterations);
}

TraceWriter::Mark TraceWriter::mark(Place at) const {
    return {.entered = out_.entered[at.block][at.warp],
            .iterations = out_.blocks[at.block].warps[at.warp].iterations};
}

void TraceWriter::leave_out_alike(Place at, std::uint32_t loop, const Mark& since, std::uint64_t seen,
                                  std::uint64_t iterations) {
    if (seen == 0) return;
    WarpState& state = warps_[at.block][at.warp];
    const auto open = std::ranges::find(state.open, loop, &OpenLoop::loop);
    if (open != state.open.end()) {
        open->iteration += iterations;
        state.open.erase(open + 1, state.open.end());
        if (open->iteration >= out_.kept[loop]) out_.cut_short[loop] = true;
    }
    const auto more = [&](std::uint64_t now, std::uint64_t then) {
        return static_cast<std::uint64_t>(std::llround(
            static_cast<double>(now - then) * static_cast<double>(iterations) / static_cast<double>(seen)));
    };
    std::vector<std::uint32_t>& entered = out_.entered[at.block][at.warp];
    for (std::size_t s = 0; s < entered.size(); ++s)
        if (entered[s] != since.entered[s]) add_entries(entered[s], more(entered[s], since.entered[s]));
    std::vector<std::uint64_t>& all = out_.blocks[at.block].warps[at.warp].iterations;
    for (std::size_t l = 0; l < all.size(); ++l) all[l] += more(all[l], since.iterations[l]);
}

void TraceWriter::leave_out_like(Place at, const Mark& since, std::uint64_t iterations) {
    warps_[at.block][at.warp].open.back().iteration += iterations;
    std::vector<std::uint32_t>& entered = out_.entered[at.block][at.warp];
    for (std::size_t s = 0; s < entered.size(); ++s)
        add_entries(entered[s], (entered[s] - since.entered[s]) * iterations);
    std::vector<std::uint64_t>& all = out_.blocks[at.block].warps[at.warp].iterations;
    for (std::size_t l = 0; l < all.size(); ++l) all[l] += (all[l] - since.iterations[l]) * iterations;
}

bool TraceWriter::wants(Place at, std::uint32_t instruction) const {
    if (instruction >= code_.request_at.size()) return false;
    const BuiltCode::Place& place = code_.request_at[instruction];
    if (place.stretch == none) return false;
    const std::uint32_t last = warps_[at.block][at.warp].last_step[place.stretch];
    if (last == none) return false;
    const WarpTrace& trace = out_.blocks[at.block].warps[at.warp];
    // Else a part of the access is counted already.
    return trace.requests[trace.steps[last].first_request + place.request].lanes == 0;
}

Request& TraceWriter::request_of(Place at, std::uint32_t instruction) {
    const BuiltCode::Place& place = code_.request_at[instruction];
    WarpTrace& trace = out_.blocks[at.block].warps[at.warp];
    const std::uint32_t last = warps_[at.block][at.warp].last_step[place.stretch];
    return trace.requests[trace.steps[last].first_request + place.request];
}

void TraceWriter::access(Place at, std::uint32_t instruction, LaneAccess lanes, unsigned bytes,
                         bool is_atomic) {
    const BuiltCode::Place& place = code_.request_at[instruction];
    Request& request = request_of(at, instruction);
    request.lanes = static_cast<std::uint16_t>(lanes.count);
    if (place.is_shared) {
        request.passes =
            static_cast<std::uint16_t>(place.is_arranged ? passes_without_conflicts(lanes, bytes)
                                                         : shared_passes(lanes, bytes, is_atomic));
        return;
    }
    if (place.is_arranged) lay_side_by_side(lanes, bytes);
    // A sum in memory is read and written at one place again and again.
    LastAccess& last = last_accesses_[instruction];
    if (last.block == at.block && last.bytes == bytes && last.lanes == lanes) {
        request = last.request;
    } else {
        touch_lines(lanes, bytes, out_.blocks[at.block].lines, request);
        if (place.stores) request.store_slots = static_cast<float>(store_slots(lanes, bytes, stores_));
        if (place.is_atomic) request.passes = static_cast<std::uint16_t>(most_at_once(lanes));
        last = {.block = at.block, .bytes = bytes, .lanes = lanes, .request = request};
    }
    const std::uint32_t access = code_.access_at[instruction];
    if (access == none) return;
    std::uint64_t& first = out_.first_addresses[at.block][access];
    if (first == 0) first = *std::min_element(lanes.address.begin(), lanes.address.begin() + lanes.count);
}

void TraceWriter::access_own(Place at, std::uint32_t instruction, const LaneAccess& offsets, unsigned bytes,
                             bool reads) {
    Request& request = request_of(at, instruction);
    request.lanes = static_cast<std::uint16_t>(offsets.count);
    const unsigned slots =
        touch_own_lines(offsets, bytes, own_memory(at.block, at.warp), out_.blocks[at.block].lines, request);
    if (!reads) request.store_slots = static_cast<float>(slots);
}

}  // namespace trimtab::schedule
