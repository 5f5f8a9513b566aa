// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls, barriers, and what talks to the other lanes of a warp.
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/lower.h"
#include "emulation/emulator/exec/observer.h"

namespace trimtab::emulator {
namespace {

HostFunction host_function(std::string_view name) {
    if (name == "vprintf") return HostFunction::vprintf;
    if (name == "malloc") return HostFunction::malloc;
    if (name == "free") return HostFunction::free;
    if (name == "__assertfail") return HostFunction::assertfail;
    // new and delete, where the compiler leaves them to the device's library.
    if (name == "_Znwm" || name == "_Znam") return HostFunction::malloc;
    if (name == "_ZdlPv" || name == "_ZdaPv" || name == "_ZdlPvm" || name == "_ZdaPvm")
        return HostFunction::free;
    return device_runtime_function(name);
}

}  // namespace

// libcudadevrt's; cudart's headers give each the prefix of the second version of dynamic parallelism.
HostFunction device_runtime_function(std::string_view name) {
    constexpr std::string_view prefix = "__cudaCDP2";
    constexpr std::string_view per_thread = "_ptsz";
    if (!name.starts_with(prefix)) return HostFunction::none;
    name.remove_prefix(prefix.size());
    if (name.ends_with(per_thread)) name.remove_suffix(per_thread.size());
    if (name == "GetParameterBuffer") return HostFunction::get_parameter_buffer;
    if (name == "GetParameterBufferV2") return HostFunction::get_parameter_buffer_v2;
    if (name == "LaunchDevice") return HostFunction::launch_device;
    if (name == "LaunchDeviceV2") return HostFunction::launch_device_v2;
    static constexpr std::pair<std::string_view, HostFunction> others[] = {
        {"StreamCreateWithFlags", HostFunction::create_stream},
        {"EventCreateWithFlags", HostFunction::create_stream},
        {"MemcpyAsync", HostFunction::copy},
        {"Memcpy2DAsync", HostFunction::copy_2d},
        {"MemsetAsync", HostFunction::set},
        {"Memset2DAsync", HostFunction::set_2d},
        {"GetDevice", HostFunction::get_device},
        {"GetDeviceCount", HostFunction::get_device_count},
        {"DeviceGetAttribute", HostFunction::get_attribute},
        {"RuntimeGetVersion", HostFunction::runtime_version},
        {"Malloc", HostFunction::allocate},
        {"Free", HostFunction::release},
        {"StreamDestroy", HostFunction::no_effect},
        {"StreamWaitEvent", HostFunction::no_effect},
        {"EventRecord", HostFunction::no_effect},
        {"EventRecordWithFlags", HostFunction::no_effect},
        {"EventDestroy", HostFunction::no_effect},
        {"GetLastError", HostFunction::no_effect},
        {"PeekAtLastError", HostFunction::no_effect}};
    const auto* found = std::ranges::find(others, name, [](const auto& entry) { return entry.first; });
    return found == std::end(others) ? HostFunction::none : found->second;
}

bool Lowering::lower_branch(const ptx::Instruction& instruction, std::uint32_t index) {
    using ptx::Opcode;
    const bool guarded = instruction.guard != ptx::no_index;
    const std::uint32_t cost = since_control_;
    since_control_ = 0;
    if (instruction.opcode == Opcode::trap || instruction.opcode == Opcode::brkpt) {
        if (instruction.opcode == Opcode::brkpt) return true;  // no debugger listens
        emit(run::trap);
        return true;
    }
    if (instruction.opcode == Opcode::exit || (instruction.opcode == Opcode::ret && is_entry_)) {
        emit(run::leave).cost = cost;
        return true;
    }
    const auto size = static_cast<std::uint32_t>(function_.body.size());
    const ptx::BlockIndex join = flow_.immediate_post_dominator[flow_.block_of[index]];
    std::uint32_t join_at = join == ptx::no_index ? size : flow_.blocks[join].first;
    const bool has_join = join != ptx::no_index || !is_entry_;
    if (instruction.opcode == Opcode::brx) {
        if (guarded) return false;
        const std::vector<std::uint32_t>& targets =
            function_.branch_targets.find(instruction.operands[1].text)->second;
        BranchTable& table = out_.tables.emplace_back();
        table.target_instructions = targets;
        if (has_join) table_joins_.emplace_back(&table, join_at);
        const OperandRef a = source(instruction.operands[0], 4, ptx::Type::u32);
        Op& op = emit(run::branch_indexed);
        op.a = a;
        op.info = &table;
        op.cost = cost;
        return true;
    }
    const std::uint32_t target = instruction.opcode == Opcode::ret ? size : instruction.operands[0].target;
    if (guarded && kernel_.counted) {
        Op& op = emit(run::count_branch);
        op.a = registers_[instruction.guard];
        op.imm = instruction.guard_negated ? 1 : 0;
    }
    const std::size_t at = out_.ops.size();
    Op& op = emit(!guarded ? run::jump : (instruction.guard_negated ? run::branch_unless : run::branch_if));
    op.cost = cost;
    if (guarded) op.a = registers_[instruction.guard];
    set_target(at, target);
    if (guarded && has_join) join_fixups_.push_back({at, join_at});
    return true;
}

bool Lowering::lower_call(const ptx::Instruction& instruction) {
    const std::uint32_t cost = since_control_;
    since_control_ = 0;
    const std::size_t results = instruction.destination_count;
    const ptx::Operand& target = instruction.operands[results];
    std::size_t arguments_end = instruction.operands.size();
    if (arguments_end > results + 1 && instruction.operands.back().kind == ptx::Operand::Kind::label)
        arguments_end--;
    CallInfo& info = out_.calls.emplace_back();
    const auto value = [&](const ptx::Operand& operand, bool is_result) {
        CallValue made;
        if (operand.kind == ptx::Operand::Kind::symbol) {
            const auto place = parameters_.find(operand.text);
            if (place == parameters_.end()) {
                fail(instruction, "'" + operand.text + "' is no parameter variable");
                return made;
            }
            made.caller_offset = place->second.offset;
            made.bytes = place->second.bytes;
            return made;
        }
        unsigned width = 4;
        if (operand.kind == ptx::Operand::Kind::reg) width = width_of(operand.reg);
        if (operand.kind == ptx::Operand::Kind::immediate && ptx::size_bytes(operand.type) == 8) width = 8;
        made.bytes = made.register_bytes = width;
        made.caller_register = is_result ? destination(operand, width) : source(operand, width, operand.type);
        return made;
    };
    for (std::size_t i = results + 1; i < arguments_end; i++)
        info.arguments.push_back(value(instruction.operands[i], false));
    for (std::size_t i = 0; i < results; i++) info.results.push_back(value(instruction.operands[i], true));
    if (failed()) return false;

    if (target.kind == ptx::Operand::Kind::reg) {
        const OperandRef a = source(target, 8, ptx::Type::u64);
        const std::size_t at = out_.ops.size();
        Op& op = emit(run::call_indirect);
        op.a = a;
        op.info = &info;
        op.cost = cost;
        join_fixups_.push_back({at, current_ + 1});
        return true;
    }
    const ptx::Function* callee = nullptr;
    if (const auto address = kernel_.program.symbol_address(target.text))
        callee = kernel_.program.function_at(*address);
    const auto code = kernel_.functions.find(callee);
    if (code == kernel_.functions.end()) {
        info.host = host_function(target.text);
        if (info.host == HostFunction::none) {
            fail(instruction, "it calls '" + target.text + "', which is not defined");
            return false;
        }
        Op& op = emit(run::call_host);
        op.info = &info;
        return true;
    }
    info.callee = code->second;
    if (callee->parameters.size() != info.arguments.size() || callee->returns.size() != info.results.size()) {
        fail(instruction, "the call does not fit the parameters of '" + target.text + "'");
        return false;
    }
    Op& op = emit(run::call);
    op.info = &info;
    op.cost = cost;
    return true;
}

// bar{.cta}.sync a{, b};  bar.arrive a, b;  bar.red.popc.u32 d, a{, b}, {!}c;  bar.warp.sync members;
bool Lowering::lower_barrier(const ptx::Instruction& instruction) {
    if (has(instruction, "warp")) {
        if (instruction.operands.size() != 1) return false;
        const OperandRef a = source(instruction.operands[0], 4, ptx::Type::b32);
        emit(run::warp_sync).a = a;
        return true;
    }
    if (has(instruction, "cluster")) {
        emit(instruction.modifiers.arrive ? run::cluster_arrive : run::cluster_wait);
        return true;
    }
    const auto sources = instruction.sources();
    const auto u32 = [&](const ptx::Operand& operand) { return source(operand, 4, ptx::Type::u32); };
    OperandRef number = constant(0, 4), threads = no_operand;
    if (!sources.empty()) number = u32(sources[0]);
    if (instruction.modifiers.boolean_op != ptx::BooleanOp::none) {
        if (instruction.destination_count != 1 || sources.size() < 2) return false;
        if (sources.size() > 2) threads = u32(sources[1]);
        const bool popc = instruction.modifiers.boolean_op == ptx::BooleanOp::popc;
        const OperandRef c = predicate(sources.back());
        const OperandRef d = destination(instruction.operands[0], popc ? 4 : 0);
        Op& op = emit(run::barrier_reduce);
        op.a = number;
        op.b = threads;
        op.c = c;
        Op& result = emit(run::barrier_result);
        result.a = number;
        result.d = d;
        result.imm = static_cast<std::uint64_t>(instruction.modifiers.boolean_op);
        return true;
    }
    if (sources.size() > 1) threads = u32(sources[1]);
    if (instruction.modifiers.arrive && threads == no_operand) return false;
    Op& op = emit(instruction.modifiers.arrive ? run::barrier_arrive : run::barrier_sync);
    op.a = number;
    op.b = threads;
    return true;
}

bool Lowering::lower_collective(const ptx::Instruction& instruction) {
    using ptx::Opcode;
    const auto sources = instruction.sources();
    const bool sync = instruction.modifiers.sync;
    const auto u32 = [&](const ptx::Operand& operand) { return source(operand, 4, ptx::Type::b32); };
    const auto second = [&]() -> OperandRef {
        if (instruction.destination_count < 2 || instruction.operands[1].kind == ptx::Operand::Kind::sink)
            return no_operand;
        return predicate(instruction.operands[1]);
    };
    if (instruction.destination_count == 0) return false;
    const ptx::Operand& d = instruction.operands[0];
    switch (instruction.opcode) {
        case Opcode::activemask: {
            const OperandRef to = destination(d, 4);
            emit(run::active_mask).d = to;
            return true;
        }
        case Opcode::shfl: {
            if (sources.size() != (sync ? 4u : 3u)) return false;
            const OperandRef a = u32(sources[0]), b = u32(sources[1]), c = u32(sources[2]);
            // The members travel as the info of a vector of operands: five do not fit otherwise.
            MemoryInfo& more = out_.memory.emplace_back();
            more.elements[0] = sync ? u32(sources[3]) : no_operand;
            const OperandRef to = destination(d, 4), p = second();
            Op& op = emit(run::shuffle);
            op.d = to;
            op.e = p;
            op.a = a;
            op.b = b;
            op.c = c;
            op.imm = static_cast<std::uint64_t>(instruction.modifiers.shuffle);
            op.info = &more;
            return true;
        }
        case Opcode::vote: {
            if (sources.size() != (sync ? 2u : 1u)) return false;
            const bool ballot = instruction.modifiers.vote == ptx::VoteMode::ballot;
            const OperandRef a = predicate(sources[0]);
            const OperandRef members = sync ? u32(sources[1]) : no_operand;
            const OperandRef to = destination(d, ballot ? 4 : 0);
            Op& op = emit(run::vote);
            op.d = to;
            op.a = a;
            op.c = members;
            op.imm = static_cast<std::uint64_t>(instruction.modifiers.vote);
            return true;
        }
        case Opcode::match: {
            if (sources.size() != 2) return false;
            const unsigned bytes = ptx::size_bytes(instruction.type);
            const OperandRef a = source(sources[0], bytes, instruction.type), members = u32(sources[1]);
            const OperandRef to = destination(d, 4), p = second();
            Op& op = emit(run::match);
            op.d = to;
            op.e = p;
            op.a = a;
            op.c = members;
            op.a_bytes = static_cast<std::uint8_t>(bytes);
            op.imm = instruction.modifiers.vote == ptx::VoteMode::all ? 1 : 0;
            return true;
        }
        case Opcode::redux: {
            if (sources.size() != 2 || ptx::size_bytes(instruction.type) != 4) return false;
            const OperandRef a = source(sources[0], 4, instruction.type), members = u32(sources[1]);
            const OperandRef to = destination(d, 4);
            Op& op = emit(run::reduce);
            op.d = to;
            op.a = a;
            op.c = members;
            op.imm = static_cast<std::uint64_t>(instruction.modifiers.atomic) |
                     static_cast<std::uint64_t>(instruction.type) << 8 |
                     (has(instruction, "abs") ? std::uint64_t{1} << 16 : 0) |
                     (instruction.modifiers.nan_ ? std::uint64_t{1} << 17 : 0);
            return true;
        }
        case Opcode::elect: {
            if (sources.size() != 1) return false;
            const OperandRef members = u32(sources[0]);
            const OperandRef p = second(), to = destination(d, 4);
            Op& op = emit(run::elect);
            op.d = to;
            op.e = p;
            op.c = members;
            return true;
        }
        default:
            return false;
    }
}

// What has no effect on the results here: blocks of a warp run their memory accesses in order, and the host
// keeps the order that x86 promises.
bool Lowering::lower_simple(const ptx::Instruction& instruction) {
    using ptx::Opcode;
    switch (instruction.opcode) {
        case Opcode::membar:
        case Opcode::fence:
            if (kernel_.observed) emit(run::observe_fence);
            return true;
        case Opcode::prefetch:
        case Opcode::prefetchu:
        case Opcode::applypriority:
        case Opcode::discard:
        case Opcode::nanosleep:
        case Opcode::pmevent:
        case Opcode::setmaxnreg:
        case Opcode::griddepcontrol:
            return true;
        case Opcode::createpolicy: {
            if (instruction.operands.empty()) return false;
            ptx::Operand none;  // no cache here heeds a policy
            none.kind = ptx::Operand::Kind::immediate;
            const OperandRef a = source(none, 8, ptx::Type::u64), d = destination(instruction.operands[0], 8);
            Op& op = emit(vector_.copy(8));
            op.d = d;
            op.a = a;
            return true;
        }
        default:
            return false;
    }
}

}  // namespace trimtab::emulator
