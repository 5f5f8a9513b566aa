// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls and exits.
#include <algorithm>
#include <bit>
#include <string>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/paths.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::run {
namespace {

// Every loop passes a branch: the place to look for the launch's limits.
const Op* paid(Warp& w, const Op* op, const Op* next) {
    w.executed += op->cost;
    if (w.executed < w.check_at) [[likely]]
        return next;
    return w.worker->check_limits(w, op, next);
}

const Op* branch(Warp& w, const Op* op, std::uint32_t taken) {
    if (taken == w.path_lanes) return paid(w, op, op->target);
    if (taken == 0 || op->target == op + 1) return paid(w, op, op + 1);
    return paid(w, op, split_path(w, taken, op->target, op + 1, reinterpret_cast<const Op*>(op->imm)));
}

// Groups of lanes that go different ways, one after the other.
const Op* split_ways(Warp& w, const Op* op, const std::uint32_t (&lanes)[warp_lanes],
                     const Op* const (&targets)[warp_lanes], unsigned count, const Op* join) {
    for (unsigned i = 0; i + 1 < count; i++) {
        // What is left stands at the branch, to be split again.
        (void)split_path(w, lanes[i], targets[i], op, join);
    }
    return targets[count - 1];
}

}  // namespace

const Op* jump(Warp& w, const Op* op) {
    return paid(w, op, op->target);
}
const Op* branch_if(Warp& w, const Op* op) {
    return branch(w, op, w.predicate(op->a) & w.path_lanes);
}
const Op* branch_unless(Warp& w, const Op* op) {
    return branch(w, op, ~w.predicate(op->a) & w.path_lanes);
}

const Op* branch_indexed(Warp& w, const Op* op) {
    const BranchTable& table = *static_cast<const BranchTable*>(op->info);
    const std::uint32_t* index = w.lanes<std::uint32_t>(op->a);
    std::uint32_t lanes[warp_lanes];
    const Op* targets[warp_lanes];
    unsigned count = 0;
    for (std::uint32_t rest = w.path_lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (index[lane] >= table.targets.size()) {
            return w.worker->fault(w, op, Fault::Kind::illegal_instruction, lane,
                                   "branch table index " + std::to_string(index[lane]) + " is past its " +
                                       std::to_string(table.targets.size()) + " targets");
        }
        const Op* target = table.targets[index[lane]];
        unsigned i = 0;
        while (i < count && targets[i] != target) i++;
        if (i == count) {
            targets[count] = target;
            lanes[count++] = 0;
        }
        lanes[i] |= 1u << lane;
    }
    return paid(w, op, split_ways(w, op, lanes, targets, count, table.join));
}

const Op* join(Warp& w, const Op* op) {
    return w.join == op && w.join_frame == w.frame ? arrive(w) : op + 1;
}

const Op* guard_if(Warp& w, const Op* op) {
    const std::uint32_t lanes = w.path_lanes & w.predicate(op->a);
    if (lanes == 0) return op->target;
    w.set_mask(lanes);
    return op + 1;
}

const Op* guard_unless(Warp& w, const Op* op) {
    const std::uint32_t lanes = w.path_lanes & ~w.predicate(op->a);
    if (lanes == 0) return op->target;
    w.set_mask(lanes);
    return op + 1;
}

const Op* unguard(Warp& w, const Op* op) {
    w.set_mask(w.path_lanes);
    return op + 1;
}

const Op* leave(Warp& w, const Op* op) {
    w.executed += op->cost;
    return exit_lanes(w, w.mask, op + 1);
}

const Op* trap(Warp& w, const Op* op) {
    const auto lane = static_cast<unsigned>(std::countr_zero(w.mask));
    return w.worker->fault(w, op, Fault::Kind::trap, lane, "the kernel trapped");
}

namespace {

std::byte* parameter_storage(Frame& frame, std::uint32_t lane, std::uint32_t offset) {
    return frame.registers + frame.function->register_bytes + lane * frame.function->parameter_bytes + offset;
}

void copy_argument(Warp& w, const CallValue& value, std::uint32_t callee_offset, Frame& caller, Frame& callee,
                   std::uint32_t lanes, bool to_callee) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        std::byte* there = parameter_storage(callee, lane, callee_offset);
        std::byte* here = nullptr;
        if (value.caller_register != no_operand) {
            const std::uint32_t offset = value.caller_register & ((1u << base_shift) - 1);
            std::byte* base = value.caller_register >> base_shift == 0
                                  ? caller.registers
                                  : w.bases[value.caller_register >> base_shift];
            here = base + offset + lane * value.register_bytes;
        } else {
            here = parameter_storage(caller, lane, value.caller_offset);
        }
        if (to_callee)
            __builtin_memcpy(there, here, value.bytes);
        else
            __builtin_memcpy(here, there, value.bytes);
    }
}

const Op* enter(Warp& w, const Op* op, const CallInfo& info, const FunctionCode& callee) {
    Frame* const caller = w.frame;
    Frame* const frame = w.worker->take_frame(w, op, callee);
    if (frame == nullptr) return nullptr;
    frame->caller = caller;
    frame->return_to = op + 1;
    frame->lanes = w.path_lanes;
    const std::size_t count = std::min(info.arguments.size(), callee.formal_offsets.size());
    for (std::size_t i = 0; i < count; i++) {
        CallValue value = info.arguments[i];
        value.bytes = std::min(value.bytes, callee.formal_bytes[i]);
        copy_argument(w, value, callee.formal_offsets[i], *caller, *frame, w.path_lanes, true);
    }
    set_frame(w, frame);
    return paid(w, op, callee.ops.data());
}

}  // namespace

const Op* call(Warp& w, const Op* op) {
    const CallInfo& info = *static_cast<const CallInfo*>(op->info);
    return enter(w, op, info, *info.callee);
}

const Op* call_indirect(Warp& w, const Op* op) {
    const CallInfo& info = *static_cast<const CallInfo*>(op->info);
    const std::uint64_t* address = w.lanes<std::uint64_t>(op->a);
    const auto first = static_cast<unsigned>(std::countr_zero(w.path_lanes));
    std::uint32_t same = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        if (((w.path_lanes >> lane) & 1u) != 0 && address[lane] == address[first]) same |= 1u << lane;
    }
    if (same != w.path_lanes) {
        // One function at a time: the others come back to this very op.
        (void)split_path(w, w.path_lanes & ~same, op, op, reinterpret_cast<const Op*>(op->imm));
    }
    const FunctionCode* callee = w.worker->function_at(address[first]);
    if (callee == nullptr || !callee->error.empty()) {
        const std::string why = callee == nullptr
                                    ? "there is no function at address " + hexadecimal(address[first])
                                    : callee->error;
        return w.worker->fault(w, op, Fault::Kind::illegal_instruction, first, why);
    }
    return enter(w, op, info, *callee);
}

const Op* return_from(Warp& w, const Op* op) {
    Frame* const frame = w.frame;
    Frame* const caller = frame->caller;
    const Op* const next = frame->return_to;
    const CallInfo& info = *static_cast<const CallInfo*>((next - 1)->info);
    const FunctionCode& callee = *frame->function;
    const std::uint32_t lanes = w.path_lanes;
    const std::size_t count = std::min(info.results.size(), callee.result_offsets.size());
    for (std::size_t i = 0; i < count; i++) {
        CallValue value = info.results[i];
        value.bytes = std::min(value.bytes, callee.result_bytes[i]);
        copy_argument(w, value, callee.result_offsets[i], *caller, *frame, lanes, false);
    }
    set_frame(w, caller);
    leave_frame(w, frame, lanes);
    return paid(w, op, next);
}

}  // namespace trimtab::emulator::run
