// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/lower.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/base/align_up.h"
#include "core/ptx/opcodes.h"
#include "emulation/emulator/exec/describe.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/observer.h"
#include "emulation/emulator/exec/register_slots.h"
#include "emulation/emulator/exec/rounds.h"

namespace trimtab::emulator {
namespace {

constexpr std::size_t no_op = ~std::size_t{0};

bool is_guarded(const ptx::Instruction& instruction) {
    return instruction.guard != ptx::no_index && instruction.opcode != ptx::Opcode::bra;
}

// Under a guard part of a path would be put aside: the other lanes branch around the instruction instead.
bool goes_around(const ptx::Instruction& instruction) {
    return instruction.guard != ptx::no_index && ptx::info(instruction.opcode).has(ptx::suspends);
}

}  // namespace

Lowering::Lowering(KernelLowering& kernel, FunctionCode& out, bool is_entry)
    : kernel_(kernel), out_(out), function_(*out.source), vector_(vector_handlers()), is_entry_(is_entry) {}

void Lowering::run() {
    auto flow = ptx::control_flow(function_);
    if (!flow) {
        out_.error = flow.error().text();
        return;
    }
    flow_ = std::move(*flow);
    lay_out_registers();
    lay_out_variables();
    find_joins();
    const auto size = static_cast<std::uint32_t>(function_.body.size());
    op_of_.assign(size + 1, no_op);
    if (kernel_.counted) {
        out_.counted_at.assign(size, 0);
        out_.region_at.assign(size, FunctionCode::no_op);
    }
    join_op_of_.assign(size + 1, no_op);
    for (auto* places : {&out_.first_op, &out_.join_op, &out_.entry_op})
        places->assign(size + 1, FunctionCode::no_op);
    std::vector<bool> starts(size + 1);
    for (const ptx::BasicBlock& block : flow_.blocks) starts[block.first] = true;
    for (std::uint32_t i = 0; i < size && !failed(); i++) {
        op_of_[i] = out_.ops.size();
        if (starts[i]) region_open_ = false;
        lower_instruction(i);
    }
    if (failed()) return;
    op_of_[size] = out_.ops.size();
    current_ = size == 0 ? 0 : size - 1;
    begin_instruction(size);
    emit(is_entry_ ? run::leave : run::return_from).cost = since_control_;
    finish();
}

// Slots of one width lie together, the widest first, so that all are aligned.
void Lowering::lay_out_registers() {
    constexpr std::array<unsigned, 5> widths = {16, 8, 4, 2, 0};
    const auto class_of = [&](ptx::RegisterIndex reg) {
        const auto at = std::find(widths.begin(), widths.end(), width_of(reg));
        return static_cast<std::uint32_t>(at - widths.begin());
    };
    const RegisterSlots slots = assign_slots(function_, flow_, widths.size(), class_of);
    std::array<std::uint32_t, widths.size()> first{};
    for (std::size_t i = 0; i < widths.size(); i++) {
        first[i] = register_bytes_;
        register_bytes_ += slots.count[i] * (widths[i] == 0 ? 4 : widths[i] * warp_lanes);
    }
    registers_.assign(function_.registers.size(), no_operand);
    for (ptx::RegisterIndex reg = 0; reg < registers_.size(); reg++) {
        if (slots.slot[reg] == ptx::no_index) continue;
        const std::uint32_t own = class_of(reg);
        const unsigned bytes = widths[own] == 0 ? 4 : widths[own] * warp_lanes;
        registers_[reg] = operand_ref(Base::registers, first[own] + slots.slot[reg] * bytes);
    }
    carry_ = operand_ref(Base::registers, register_bytes_);
    register_bytes_ = base::align_up(register_bytes_ + 4, 64);
}

void Lowering::lay_out_variables() {
    std::uint32_t& parameters = out_.parameter_bytes;
    const auto place = [&](const ptx::Variable& variable) {
        parameters = base::align_up(parameters, std::max(variable.alignment_bytes, 8u));
        parameters_[variable.name] = {parameters, static_cast<std::uint32_t>(variable.size_bytes)};
        parameters += static_cast<std::uint32_t>(variable.size_bytes);
        return parameters_[variable.name];
    };
    if (!is_entry_) {
        for (const ptx::Variable& parameter : function_.parameters) {
            const Place at = place(parameter);
            out_.formal_offsets.push_back(at.offset);
            out_.formal_bytes.push_back(at.bytes);
        }
        for (const ptx::Variable& result : function_.returns) {
            const Place at = place(result);
            out_.result_offsets.push_back(at.offset);
            out_.result_bytes.push_back(at.bytes);
        }
    }
    for (const ptx::Variable& variable : function_.variables) {
        if (variable.space == ptx::Space::param) (void)place(variable);
        if (variable.space != ptx::Space::local) continue;
        out_.local_bytes = base::align_up(out_.local_bytes, std::max(variable.alignment_bytes, 8u));
        locals_[variable.name] = {out_.local_bytes, static_cast<std::uint32_t>(variable.size_bytes)};
        out_.local_bytes += static_cast<std::uint32_t>(variable.size_bytes);
    }
    if (!is_entry_) spill_parameters();
    out_.parameter_bytes = base::align_up(out_.parameter_bytes, 16);
    out_.local_bytes = base::align_up(out_.local_bytes, 16);
}

// PTX ISA, "mov": a function's parameter whose address is taken lives in local memory.
void Lowering::spill_parameters() {
    std::set<std::string_view> taken;
    for (const ptx::Instruction& instruction : function_.body) {
        if (instruction.opcode == ptx::Opcode::call) continue;
        for (const ptx::Operand& operand : instruction.operands) {
            const bool is_address = operand.kind == ptx::Operand::Kind::address;
            if (operand.kind == ptx::Operand::Kind::symbol ||
                (is_address && instruction.modifiers.space != ptx::Space::param)) {
                taken.insert(operand.text);
            }
        }
    }
    for (const ptx::Variable& parameter : function_.parameters) {
        if (!taken.contains(parameter.name)) continue;
        const Place from = parameters_[parameter.name];
        out_.local_bytes = base::align_up(out_.local_bytes, std::max(parameter.alignment_bytes, 8u));
        locals_[parameter.name] = {out_.local_bytes, from.bytes};
        CallValue& spill = out_.spills.emplace_back();
        spill.caller_offset = from.offset;
        spill.callee_offset = out_.local_bytes;
        spill.bytes = from.bytes;
        out_.local_bytes += from.bytes;
        emit(run::spill_parameter).info = &spill;
    }
}

bool Lowering::is_divergence_join(std::uint32_t instruction) const {
    const ptx::Instruction& last = function_.body[instruction];
    return last.opcode == ptx::Opcode::brx ||
           (last.opcode == ptx::Opcode::bra && last.guard != ptx::no_index) ||
           (last.opcode == ptx::Opcode::ret && last.guard != ptx::no_index && !is_entry_);
}

void Lowering::find_joins() {
    const auto size = static_cast<std::uint32_t>(function_.body.size());
    joins_.assign(size + 1, false);
    // A function's lanes come together at its end, whichever way they return.
    if (!is_entry_) joins_[size] = true;
    for (ptx::BlockIndex b = 0; b < flow_.blocks.size(); b++) {
        const ptx::BasicBlock& block = flow_.blocks[b];
        if (block.first == block.last || !is_divergence_join(block.last - 1)) continue;
        const ptx::BlockIndex join = flow_.immediate_post_dominator[b];
        if (join != ptx::no_index) joins_[flow_.blocks[join].first] = true;
    }
    for (std::uint32_t i = 0; i < size; i++) {
        const ptx::Instruction& instruction = function_.body[i];
        if (goes_around(instruction)) joins_[i + 1] = true;
        if (instruction.opcode == ptx::Opcode::call) {
            const ptx::Operand& target = instruction.operands[instruction.destination_count];
            if (target.kind == ptx::Operand::Kind::reg) joins_[i + 1] = true;
        }
    }
}

Op& Lowering::emit(Handler run) {
    Op& op = out_.ops.emplace_back();
    op.run = run;
    op.index = out_.instruction_base + current_;
    return op;
}

void Lowering::begin_region(std::uint32_t index) {
    if (!kernel_.counted || region_open_) return;
    region_open_ = true;
    if (out_.ops.size() == out_.first_op[index])
        out_.region_at[index] = static_cast<std::uint32_t>(out_.regions.size());
    region_ = &out_.regions.emplace_back();
    region_->slot = out_.instruction_base + index;
    region_->function = &function_;
    emit(kernel_.observed ? run::observe_region : run::count_region).info = region_;
}

// What stands before an instruction's own ops: where lanes come together, where compiled code may take over.
void Lowering::begin_instruction(std::uint32_t index) {
    const auto next = [this] { return static_cast<std::uint32_t>(out_.ops.size()); };
    if (joins_[index]) {
        join_op_of_[index] = out_.ops.size();
        out_.join_op[index] = next();
        emit(run::join);
    }
    if (!kernel_.observed && index < function_.body.size() && may_enter(index)) {
        out_.entry_op[index] = next();
        Op& op = emit(run::enter);
        op.imm = index;
        op.d = out_.number;
        op.c = out_.entry_op[index];
    }
    out_.first_op[index] = next();
}

// Basic blocks, and what follows an instruction at which a path may be put aside.
bool Lowering::may_enter(std::uint32_t index) const {
    return flow_.blocks[flow_.block_of[index]].first == index ||
           ptx::info(function_.body[index - 1].opcode).has(ptx::suspends);
}

void Lowering::lower_instruction(std::uint32_t index) {
    current_ = index;
    const ptx::Instruction& instruction = function_.body[index];
    begin_instruction(index);
    since_control_++;
    const bool is_branch =
        instruction.opcode == ptx::Opcode::bra || (instruction.opcode == ptx::Opcode::ret && !is_entry_);
    if (goes_around(instruction)) {
        const std::size_t branch = out_.ops.size();
        Op& op = emit(instruction.guard_negated ? run::branch_if : run::branch_unless);
        op.a = registers_[instruction.guard];
        op.cost = since_control_;
        set_target(branch, index + 1);
        join_fixups_.push_back({branch, index + 1});
        region_open_ = false;
        lower_unguarded(index);
        region_open_ = false;
    } else if (instruction.guard != ptx::no_index && !is_branch)
        lower_guarded(index);
    else
        lower_unguarded(index);
}

void Lowering::lower_guarded(std::uint32_t index) {
    const ptx::Instruction& instruction = function_.body[index];
    const std::size_t guard = out_.ops.size();
    Op& op = emit(instruction.guard_negated ? run::guard_unless : run::guard_if);
    op.a = registers_[instruction.guard];
    if (kernel_.counted) {
        RegionInfo& region = out_.regions.emplace_back();
        region.slot = out_.instruction_base + index;
        region.function = &function_;
        region.count = 1;
        out_.counted_at[index] = region.slot;
        emit(kernel_.observed ? run::observe_guarded : run::count_guarded).info = &region;
    }
    lower_unguarded(index);
    emit(run::unguard);
    out_.ops[guard].imm = out_.ops.size() - guard;  // ops to skip
}

void Lowering::lower_unguarded(std::uint32_t index) {
    const ptx::Instruction& instruction = function_.body[index];
    const bool guarded = instruction.guard != ptx::no_index && instruction.opcode != ptx::Opcode::bra &&
                         !goes_around(instruction) && (instruction.opcode != ptx::Opcode::ret || is_entry_);
    if (!guarded) {
        begin_region(index);
        if (kernel_.counted) {
            region_->count++;
            out_.counted_at[index] = region_->slot;
        }
    }
    bool done = false;
    switch (instruction.opcode) {
        using ptx::Opcode;
        case Opcode::bra:
        case Opcode::brx:
        case Opcode::ret:
        case Opcode::exit:
        case Opcode::trap:
        case Opcode::brkpt:
            done = lower_branch(instruction, index);
            break;
        case Opcode::call:
            done = lower_call(instruction);
            region_open_ = false;
            break;
        case Opcode::bar:
        case Opcode::barrier:
            done = lower_barrier(instruction);
            break;
        case Opcode::ld:
        case Opcode::ldu:
            done = lower_load(instruction);
            break;
        case Opcode::st:
            done = lower_store(instruction);
            break;
        case Opcode::atom:
        case Opcode::red:
            done = lower_atomic(instruction);
            break;
        case Opcode::mov:
            done = lower_move(instruction);
            break;
        case Opcode::cvta:
            done = lower_address_conversion(instruction);
            break;
        case Opcode::cvt:
            done = lower_convert(instruction);
            break;
        case Opcode::shfl:
        case Opcode::vote:
        case Opcode::match:
        case Opcode::redux:
        case Opcode::activemask:
        case Opcode::elect:
            done = lower_collective(instruction);
            break;
        case Opcode::cp:
            done = lower_copy_async(instruction);
            break;
        case Opcode::tex:
        case Opcode::tld4:
        case Opcode::txq:
        case Opcode::suld:
        case Opcode::sust:
        case Opcode::suq:
            done = lower_texture(instruction);
            break;
        case Opcode::mbarrier:
            done = lower_mbarrier(instruction);
            break;
        case Opcode::mapa:
        case Opcode::getctarank:
            done = lower_cluster_address(instruction);
            break;
        case Opcode::alloca_:
        case Opcode::stacksave:
        case Opcode::stackrestore:
            done = lower_stack(instruction);
            break;
        case Opcode::wmma:
        case Opcode::mma:
        case Opcode::ldmatrix:
        case Opcode::stmatrix:
        case Opcode::movmatrix:
            done = lower_matrix(instruction);
            break;
        default:
            done = lower_simple(instruction) || lower_arithmetic(instruction);
            break;
    }
    if (!done && !failed()) (void)unsupported(instruction);
}

void Lowering::fail(const ptx::Instruction& instruction, const std::string& why) {
    if (failed()) return;
    const ptx::Module& module = kernel_.program.module();
    const std::string where = place_text(module, instruction);
    const std::string line = where.starts_with("PTX line")
                                 ? where
                                 : where + " (PTX line " + std::to_string(instruction.line) + ")";
    out_.error = "function '" + function_.name + "', " + line + ": " + why;
}

bool Lowering::unsupported(const ptx::Instruction& instruction) {
    fail(instruction,
         "the emulator does not have the instruction '" + instruction_text(function_, instruction) + "'");
    return false;
}

void Lowering::set_target(std::size_t op, std::uint32_t instruction) {
    fixups_.push_back({op, instruction});
}

// The ops stay where they are from here on: pointers to them can be set.
void Lowering::finish() {
    out_.register_bytes = register_bytes_;
    out_.registers = registers_;
    Op* const ops = out_.ops.data();
    for (const Fixup& fixup : fixups_) ops[fixup.op].target = ops + op_of_[fixup.instruction];
    for (const Fixup& fixup : join_fixups_)
        ops[fixup.op].imm = reinterpret_cast<std::uint64_t>(ops + join_op_of_[fixup.instruction]);
    for (BranchTable& table : out_.tables) {
        for (const std::uint32_t target : table.target_instructions)
            table.targets.push_back(ops + op_of_[target]);
    }
    for (const auto& [table, instruction] : table_joins_) table->join = ops + join_op_of_[instruction];
    for (Op& op : out_.ops) {
        if (op.run == run::guard_if || op.run == run::guard_unless) op.target = &op + op.imm;
    }
    if (!kernel_.counted) return;
    find_rounds();
}

// Where a region ends is known only when all are: after its last instruction. Those under a guard in between
// take part in it, though they are counted apart.
void Lowering::find_rounds() {
    for (RegionInfo& region : out_.regions) {
        const std::uint32_t first = region.slot - out_.instruction_base;
        const bool guarded = region.count == 1 && function_.body[first].guard != ptx::no_index &&
                             function_.body[first].opcode != ptx::Opcode::bra;
        if (guarded) continue;
        const std::uint32_t end = flow_.blocks[flow_.block_of[first]].last;
        std::uint32_t last = first + 1;
        while (last < end && (out_.counted_at[last] == region.slot ||
                              out_.counted_at[last] == out_.instruction_base + last)) {
            if (out_.counted_at[last] != region.slot && !is_guarded(function_.body[last])) break;
            last++;
        }
        analyse_rounds(function_, first, last, region);
    }
}

}  // namespace trimtab::emulator
