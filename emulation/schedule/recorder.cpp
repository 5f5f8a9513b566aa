// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/recorder.h"

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

// Variables of the module lie where this process has them: which sets of a cache they fall into would be another
// thing in every run. They are taken to begin here, below the regions of the arguments.
constexpr std::uint64_t variables_begin = std::uint64_t{1} << 38;

// The addresses of the active lanes.
LaneAccess lanes_of(const Warp& w, const MemoryInfo& info, LaneAddresses::Shape shape,
                    const emulator::Program& program) {
    LaneAccess out;
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
        out.add(lane, at);
    }
    return out;
}

// Iterations of one loop that are left out at once.
constexpr std::uint32_t most_left_out = 1u << 30;

}  // namespace

TraceWriter::Place Recorder::place_of(const Warp& w) const {
    return {.block = number_of_.at(w.block->linear_index()), .warp = w.index};
}

void Recorder::block_started(const emulator::Block& block) {
    if (is_over_) return;
    number_of_[block.linear_index()] =
        writer_.begin_block(block.linear_index(), (block.thread_count() + warp_lanes - 1) / warp_lanes);
}

void Recorder::enters(Warp& w, const emulator::RegionInfo& region) {
    if (is_over_) return;
    const TraceWriter::Place place = place_of(w);
    if (writer_.enter(place, region.slot, w.frame->depth)) return;
    // The iteration is not kept, and neither are those that follow it.
    const CountedLoop* const loop = counted_.at(region.slot);
    if (loop == nullptr) return;
    if (writer_.recorded().entered[place.block][place.warp][region.slot] >= most_left_out) return;
    if (loop->is_nest()) return leave_out_nest(w, place, *loop);
    const std::uint64_t iterations = skip_iterations(w, *loop, most_left_out);
    writer_.leave_out(place, iterations, {region.slot, loop->back_slot});
    skipped_ += iterations * loop->instructions;
}

// Iterations that are left out do as the one that ends here did, if it was of the same lanes and of nothing else.
void Recorder::leave_out_nest(Warp& w, TraceWriter::Place place, const CountedLoop& nest) {
    SeenTop& seen = seen_tops_[{place.block, place.warp, nest.slot}];
    const std::vector<std::uint32_t>& entered = writer_.recorded().entered[place.block][place.warp];
    if (seen.lanes == w.path_lanes && seen.mark.entered.size() == entered.size() &&
        entered[nest.slot] == seen.mark.entered[nest.slot] + 1) {
        bool is_whole = true;
        std::uint64_t instructions = 0;
        for (std::uint32_t slot = 0; slot < entered.size(); ++slot)
            is_whole = is_whole && (entered[slot] == seen.mark.entered[slot] || nest.has(slot));
        for (const CountedLoop::Region& one : nest.regions)
            instructions += std::uint64_t{entered[one.slot] - seen.mark.entered[one.slot]} * one.instructions;
        if (is_whole) {
            const std::uint64_t iterations = skip_iterations(w, nest, most_left_out);
            writer_.leave_out_like(place, seen.mark, iterations);
            skipped_ += iterations * instructions;
        }
    }
    seen = {.lanes = w.path_lanes, .mark = writer_.mark(place)};
}

void Recorder::accesses_local(Warp& w, const emulator::Op* op) {
    if (is_over_ || w.mask == 0) return;
    const TraceWriter::Place place = place_of(w);
    if (!writer_.wants(place, op->index)) return;
    const auto& info = *static_cast<const MemoryInfo*>(op->info);
    LaneAccess offsets;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        offsets.add(lane, w.at.address[lane] - reinterpret_cast<std::uint64_t>(w.local.data()) -
                              std::uint64_t{lane} * w.local_stride);
    }
    writer_.access_own(place, op->index, offsets, info.total_bytes, info.access == emulator::Access::read);
}

LaneAddresses::Shape Recorder::accesses(Warp& w, const emulator::Op* op, LaneAddresses::Shape shape) {
    if (is_over_ || w.mask == 0) return shape;
    const TraceWriter::Place place = place_of(w);
    if (!writer_.wants(place, op->index)) return shape;
    const auto& info = *static_cast<const MemoryInfo*>(op->info);
    writer_.access(place, op->index, lanes_of(w, info, shape, program_), info.total_bytes, info.is_atomic);
    return shape;
}

}  // namespace trimtab::schedule
