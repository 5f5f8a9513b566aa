// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host's side of the checks, and what concerns whole warps and blocks.
#include "emulation/emulator/check/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulation/emulator/exec/assembly.h"
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/describe.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::check {
namespace {

std::array<std::uint32_t, 3> triple(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

const ptx::Instruction& instruction_of(const Warp& w, const Op* op) {
    return w.worker->launch().kernel.instruction(op->index);
}

// "bar.sync" is met by whole warps, "barrier.sync" only where it says .aligned (PTX ISA, "bar, barrier").
bool needs_whole_warps(const ptx::Instruction& instruction) {
    return instruction.opcode == ptx::Opcode::bar || instruction.modifiers.aligned;
}

}  // namespace

void Checker::allocated(const void* first, std::uint64_t size_bytes, bool is_tracked) {
    RawStack stack = capture_stack();
    const std::lock_guard lock(mutex_);
    log_.allocate(reinterpret_cast<std::uint64_t>(first), size_bytes, is_tracked && checks_.init,
                  std::move(stack));
}

void Checker::released(const void* first) {
    RawStack stack = capture_stack();
    const std::lock_guard lock(mutex_);
    log_.release(reinterpret_cast<std::uint64_t>(first), std::move(stack));
}

void Checker::filled(const void* first, std::uint64_t bytes) {
    if (!checks_.init) return;
    const std::lock_guard lock(mutex_);
    log_.write(reinterpret_cast<std::uint64_t>(first), bytes);
}

void Checker::copied(const void* to, const void* from, std::uint64_t bytes) {
    if (!checks_.init) return;
    const std::lock_guard lock(mutex_);
    log_.copy(reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from), bytes);
}

void Checker::begin_launch() {
    launch_mutex_.lock();
    grid_started();
    begins_swap_loop_.clear();
    reports_own_fault_ = false;
}

void Checker::end_launch() {
    blocks_.clear();
    global_accesses_.clear();
    launch_mutex_.unlock();
}

std::vector<Report> Checker::reports() const {
    const std::lock_guard lock(mutex_);
    return reports_.all();
}

std::string Checker::json() const {
    return to_json(check::text_of(checks_), reports());
}

void Checker::grid_started() {
    ordering_ = {};
    blocks_.clear();
    global_accesses_.clear();
}

void Checker::block_started(const Block& block) {
    const std::uint32_t warps = (block.thread_count() + warp_lanes - 1) / warp_lanes;
    ordering_.start_block(block.linear_index(), warps);
    blocks_[block.linear_index()] = {};
}

void Checker::block_finished(const Block& block) {
    ordering_.finish_block(block.linear_index());
    blocks_.erase(block.linear_index());
}

Checker::OpenBlock& Checker::open_block(const Warp& w) {
    return blocks_[w.block->linear_index()];
}

AccessPlace Checker::access_of(const Warp& w, std::uint32_t instruction, unsigned lane) const {
    const Launch& launch = w.worker->launch();
    const ptx::Instruction& found = launch.kernel.instruction(instruction);
    AccessPlace access;
    access.source = place_text(launch.program.module(), found);
    access.instruction = instruction_text(launch.kernel.function_of(instruction), found);
    access.ptx_line = found.line;
    access.thread = triple(w.block->thread_index(w.index, lane));
    access.block = triple(w.block->index());
    return access;
}

AccessPlace Checker::access_of(const Warp& w, const Stamp& stamp) const {
    AccessPlace access = access_of(w, stamp.instruction, 0);
    const trimtab_dim3& grid = w.worker->launch().request.grid;
    const std::uint64_t block = ordering_.linear_index_of(stamp.block);
    access.thread = triple(w.block->thread_index(stamp.thread / warp_lanes, stamp.thread % warp_lanes));
    access.block = {static_cast<std::uint32_t>(block % grid.x),
                    static_cast<std::uint32_t>(block / grid.x % grid.y),
                    static_cast<std::uint32_t>(block / grid.x / grid.y)};
    return access;
}

Report* Checker::found(const Warp& w, std::uint32_t instruction, unsigned lane, const char* check,
                       const char* kind, std::uint32_t other_instruction) {
    const std::string& kernel = w.worker->launch().kernel.function().name;
    Report* const report = reports_.add({kernel, instruction, other_instruction, kind});
    if (report == nullptr) return nullptr;
    report->check = check;
    report->kind = kind;
    report->kernel = kernel;
    report->access = access_of(w, instruction, lane);
    return report;
}

void Checker::fence(const Warp& w) {
    if (!checks_.race) return;
    ordering_.enter(w.block->linear_index(), w.index);
    ordering_.fence();
}

void Checker::meets_barrier(const Warp& w, const Op* op, unsigned number, std::uint32_t threads) {
    if (!checks_.sync) return;
    Meeting& meeting = open_block(w).meetings[number];
    const auto lane = static_cast<unsigned>(std::countr_zero(w.path_lanes));
    if (!meeting.is_open) {
        meeting = {.arrived = {},
                   .met_by = {},
                   .absent = {},
                   .strayed = {},
                   .instruction = op->index,
                   .warp = w.index,
                   .lane = lane,
                   .is_open = true};
        meeting.arrived.resize(warp_lanes);
        meeting.met_by.resize(warp_lanes);
        meeting.absent.resize(warp_lanes);
        meeting.strayed.resize(warp_lanes);
    }
    const std::lock_guard lock(mutex_);
    const auto first_of_all = [&] {
        AccessPlace access = access_of(w, meeting.instruction, meeting.lane);
        access.thread = triple(w.block->thread_index(meeting.warp, meeting.lane));
        return access;
    };
    // Lanes that only the emulator let come apart meet the same barrier one after the other.
    const bool is_apart =
        meeting.arrived[w.index] != 0 && (!w.came_apart || meeting.met_by[w.index] != op->index);
    if (is_apart && needs_whole_warps(instruction_of(w, op))) {
        if (Report* report = found(w, op->index, lane, "sync", "divergent barrier", meeting.instruction)) {
            report->text =
                fmt::format("{} of the warp's lanes reach barrier {} separately from {} others of the warp",
                            std::popcount(w.path_lanes), number, std::popcount(meeting.arrived[w.index]));
            if (meeting.warp == w.index) report->other.push_back(first_of_all());
        }
    } else if (meeting.instruction != op->index && threads == 0) {
        if (Report* report = found(w, op->index, lane, "sync", "divergent barrier", meeting.instruction)) {
            report->text = fmt::format(
                "some threads of the block reach barrier {} here, others at another instruction", number);
            report->other.push_back(first_of_all());
        }
    }
    if (meeting.arrived[w.index] == 0 && needs_whole_warps(instruction_of(w, op)))
        meeting.absent[w.index] = w.live;
    meeting.absent[w.index] &= ~w.path_lanes;
    meeting.strayed[w.index] &= ~w.path_lanes;
    meeting.arrived[w.index] |= w.path_lanes;
    meeting.met_by[w.index] = op->index;
}

void Checker::note_absent(const Warp& w) {
    for (auto& [number, meeting] : open_block(w).meetings) {
        if (meeting.is_open) meeting.strayed[w.index] |= meeting.absent[w.index] & w.mask;
    }
}

// All that are left have come: lanes that were awaited when others of their warp came have ended without it.
// Threads past the end of the work, that is, past all who came, may do so if they do nothing else.
void Checker::check_absent(const Block& block, const Meeting& meeting, unsigned number) {
    std::array<std::uint32_t, 3> last{};
    const auto each_lane = [](std::uint32_t lanes, const auto& visit) {
        for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
    };
    for (std::uint32_t warp = 0; warp < warp_lanes; warp++) {
        each_lane(meeting.arrived[warp], [&](unsigned lane) {
            const auto thread = triple(block.thread_index(warp, lane));
            for (std::size_t d = 0; d < 3; d++) last[d] = std::max(last[d], thread[d]);
        });
    }
    for (std::uint32_t warp = 0; warp < warp_lanes; warp++) {
        std::uint32_t missing = meeting.strayed[warp];
        each_lane(meeting.absent[warp], [&](unsigned lane) {
            const auto thread = triple(block.thread_index(warp, lane));
            const bool is_past_the_end = thread[0] > last[0] || thread[1] > last[1] || thread[2] > last[2];
            if (!is_past_the_end) missing |= 1u << lane;
        });
        const Warp* const w = missing == 0 ? nullptr : block.warp(warp);
        if (w == nullptr) continue;
        const auto first = static_cast<unsigned>(std::countr_zero(meeting.arrived[warp]));
        if (Report* report = found(*w, meeting.met_by[warp], first, "sync", "divergent barrier"))
            report->text =
                fmt::format("{} of the warp's lanes end without reaching barrier {}, where {} others wait",
                            std::popcount(missing), number, std::popcount(meeting.arrived[warp]));
    }
}

void Checker::barrier_completes(const Block& block, unsigned number, std::span<const std::uint32_t> arrived) {
    if (checks_.sync) {
        if (const auto open = blocks_.find(block.linear_index()); open != blocks_.end()) {
            const std::lock_guard lock(mutex_);
            Meeting& meeting = open->second.meetings[number];
            if (meeting.is_open) check_absent(block, meeting, number);
            meeting.is_open = false;
        }
    }
    if (checks_.race) ordering_.synchronize_warps(block.linear_index(), arrived);
}

void Checker::warp_synchronizes(Warp& w, const Op* op, OperandRef members, std::uint32_t lanes) {
    if (members == no_operand) return;
    if (checks_.race) {
        ordering_.enter(w.block->linear_index(), w.index);
        ordering_.synchronize_lanes(lanes);
    }
    if (!checks_.sync) return;
    const std::uint32_t* masks = w.lanes<std::uint32_t>(members);
    const std::lock_guard lock(mutex_);
    for (std::uint32_t rest = w.path_lanes & lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (((masks[lane] >> lane) & 1u) == 0) {
            if (Report* report = found(w, op->index, lane, "sync", "lane outside its mask"))
                report->text = fmt::format("lane {} passes the mask 0x{:08x}, which leaves out that lane",
                                           lane, masks[lane]);
        } else if (!agrees(masks, lanes, lane)) {
            if (Report* report = found(w, op->index, lane, "sync", "different masks in one warp"))
                report->text = fmt::format(
                    "lane {} passes the mask 0x{:08x}, but a lane in that mask passes another one", lane,
                    masks[lane]);
        } else if (const std::uint32_t missing = masks[lane] & w.live & ~lanes; missing != 0) {
            if (Report* report = found(w, op->index, lane, "sync", "lanes missing"))
                report->text =
                    fmt::format("the mask 0x{:08x} names lanes that never reach this instruction: 0x{:08x}",
                                masks[lane], missing);
        }
    }
}

void Checker::add_allocation(Report& report, const AllocationLog::Allocation& allocation) const {
    report.allocation_bytes = allocation.size_bytes;
    report.allocated = symbols_of(allocation.allocated);
    report.freed = symbols_of(allocation.freed);
}

void Checker::faults(Warp& w, const Op* op, Fault::Kind kind, unsigned lane, const std::string& what) {
    if (reports_own_fault_) return;
    const std::lock_guard lock(mutex_);
    if (checks_.sync && kind == Fault::Kind::illegal_instruction && what.starts_with("deadlock")) {
        if (Report* report = found(w, op->index, lane, "sync", "deadlock")) report->text = what;
        return;
    }
    if (!checks_.memory) return;
    if (kind == Fault::Kind::misaligned_address) {
        if (Report* report = found(w, op->index, lane, "memory", "misaligned address")) report->text = what;
        return;
    }
    if (kind != Fault::Kind::illegal_address) return;
    const ptx::Space space = instruction_of(w, op).modifiers.space;
    const bool is_global = space == ptx::Space::global || space == ptx::Space::generic;
    const std::uint64_t address = w.at.address[lane];
    const AllocationLog::Allocation* freed = is_global ? log_.freed(address) : nullptr;
    Report* const report =
        found(w, op->index, lane, "memory", freed != nullptr ? "use after free" : "out of bounds");
    if (report == nullptr) return;
    report->text = what;
    const AllocationLog::Allocation* allocation =
        freed != nullptr || !is_global ? freed : log_.nearest(address);
    if (allocation != nullptr) add_allocation(*report, *allocation);
}

}  // namespace trimtab::emulator::check
