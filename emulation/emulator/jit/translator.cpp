// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/translator.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/load_order.h"

namespace trimtab::emulator::jit {
namespace {

using ptx::Opcode;

bool ends_path(const ptx::Instruction& instruction) {
    return ends_block(instruction.opcode) && instruction.opcode != Opcode::bra;
}

}  // namespace

Translator::Translator(llvm::Module& module, const FunctionCode& code, const LanePatterns& lanes,
                       bool is_counted, bool has_gather)
    : context_(module.getContext()),
      module_(module),
      b_(module.getContext()),
      code_(code),
      function_(*code.source),
      lane_patterns_(lanes),
      is_kernel_(code.number == 0),
      is_counted_(is_counted),
      has_gather_(has_gather),
      layout_(warp_layout()) {
    likely_ = llvm::MDBuilder(context_).createBranchWeights(2000, 1);
}

bool Translator::run(const std::string& name) {
    auto flow = ptx::control_flow(function_);
    if (!flow || code_.first_op.size() != function_.body.size() + 1) return false;
    flow_ = std::move(*flow);
    liveness_.emplace(function_, flow_);
    // What lies in memory is copied as it is.
    const bool is_in_memory = may_be_large_ && function_.body.size() > most_in_registers;
    shapes_.emplace(function_, flow_, *liveness_, lane_patterns_, is_kernel_, !is_in_memory);
    hints_.emplace(function_, flow_, lane_patterns_);
    open_nans_.emplace(function_, !is_in_memory);
    auto* pointer = b_.getPtrTy();
    made_ = llvm::Function::Create(llvm::FunctionType::get(pointer, {pointer, pointer}, false),
                                   llvm::GlobalValue::ExternalLinkage, name, module_);
    made_->setDoesNotThrow();
    find_entries();
    make_prologue();
    block_starts_.resize(flow_.blocks.size());
    block_ways_.resize(flow_.blocks.size());
    order_.assign(flow_.blocks.size(), ptx::no_index);
    for (std::uint32_t i = 0; i < flow_.reverse_post_order.size(); i++)
        order_[flow_.reverse_post_order[i]] = i;
    for (const ptx::BlockIndex b : flow_.reverse_post_order)
        block_starts_[b] = llvm::BasicBlock::Create(context_, "block", made_);
    for (const ptx::BlockIndex b : flow_.reverse_post_order) translate_block(b);
    if (!room_ || room_->settle(*made_)) return true;
    made_->eraseFromParent();
    return false;
}

// Where the interpreter may hand over: at the start, at loops, behind divergence and at suspended paths.
void Translator::find_entries() {
    is_entry_point_.assign(function_.body.size() + 1, false);
    if (!function_.body.empty()) is_entry_point_[0] = true;
    for (const ptx::Loop& loop : flow_.loops) is_entry_point_[flow_.blocks[loop.header].first] = true;
    for (std::uint32_t i = 0; i < function_.body.size(); i++) {
        const Instruction& instruction = function_.body[i];
        // Compiled code leaves branches on which lanes agree seldom; loops that are entered in their middle, too,
        // are no loops to LLVM.
        const bool is_agreed = instruction.opcode == Opcode::bra && !shapes_->is_divergent(i);
        if (code_.entry_op[i + 1] != FunctionCode::no_op && !stays_on_path(instruction) && !is_agreed)
            is_entry_point_[i + 1] = true;
        if (shapes_->is_divergent(i) || ends_path(instruction)) {
            for (const ptx::BlockIndex next : flow_.blocks[flow_.block_of[i]].successors)
                is_entry_point_[flow_.blocks[next].first] = true;
        }
        if (code_.join_op[i] != FunctionCode::no_op) is_entry_point_[i] = true;
    }
}

void Translator::make_prologue() {
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "prologue", made_));
    warp_ = made_->getArg(0);
    llvm::Value* op = made_->getArg(1);
    const auto word_of_op = [&](std::size_t offset) {
        return b_.CreateLoad(b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), op, offset));
    };
    llvm::Value* place = b_.CreateZExt(word_of_op(offsetof(Op, c)), b_.getInt64Ty());
    ops_ = b_.CreateGEP(b_.getInt8Ty(), op, b_.CreateMul(place, b_.getInt64(-sizeof(Op))));
    registers_ = field(layout_.bases, b_.getPtrTy());
    lanes_ = field(layout_.path_lanes, b_.getInt32Ty());
    first_lane_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, lanes_, b_.getTrue());
    path_threads_ = b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes_), b_.getInt64Ty());
    executed_ = b_.CreateAlloca(b_.getInt64Ty());
    b_.CreateStore(field(layout_.executed, b_.getInt64Ty()), executed_);
    make_registers();
    find_groups();
    if (!room_) find_stretches();
    auto* nowhere = llvm::BasicBlock::Create(context_, "nowhere", made_);
    entry_switch_ = b_.CreateSwitch(word_of_op(offsetof(Op, imm)), nowhere);
    b_.SetInsertPoint(nowhere);
    b_.CreateRet(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), op, sizeof(Op)));
}

void Translator::make_registers() {
    slots_.assign(function_.registers.size(), nullptr);
    if (may_be_large_ && function_.body.size() > most_in_registers) room_.emplace(module_);
    for (ptx::RegisterIndex reg = 0; reg < slots_.size(); reg++) {
        if (code_.registers[reg] == no_operand || register_bytes(function_, reg) > 8) continue;
        slots_[reg] = b_.CreateAlloca(register_type(reg));
        if (!room_) continue;
        const std::uint32_t offset = code_.registers[reg] & ((1u << base_shift) - 1);
        room_->add(slots_[reg], {offset, register_bytes(function_, reg), shapes_->of(reg).offsets});
    }
}

void Translator::enter_at(std::uint32_t index, llvm::BasicBlock* to) {
    auto* entry = llvm::BasicBlock::Create(context_, "entry", made_);
    const auto before = b_.saveIP();
    b_.SetInsertPoint(entry);
    load_registers(liveness_->before(index));
    b_.CreateBr(to);
    b_.restoreIP(before);
    entry_switch_->addCase(b_.getInt32(index), entry);
    if (index == 0) start_ = entry;
}

void Translator::translate_block(ptx::BlockIndex block) {
    const ptx::BasicBlock& blk = flow_.blocks[block];
    b_.SetInsertPoint(block_starts_[block]);
    for (std::uint32_t i = blk.first; i < blk.last; i++) {
        if (is_entry_point_[i] && code_.entry_op[i] != FunctionCode::no_op) {
            // Loops have one head: their block's start.
            llvm::BasicBlock* here = b_.GetInsertBlock();
            if (!here->empty()) {
                here = llvm::BasicBlock::Create(context_, "at", made_);
                b_.CreateBr(here);
            }
            enter_at(i, here);
            b_.SetInsertPoint(here);
        }
        if (const auto stretch = stretches_.find(i); stretch != stretches_.end()) {
            translate_stretch(i, stretch->second);
            i = stretch->second.last;
            continue;
        }
        translate_instruction(i);
    }
    // What stands behind a block that ends for good may be out of anything's reach: not translated.
    if (b_.GetInsertBlock()->getTerminator() != nullptr) return;
    if (blk.last >= function_.body.size()) {
        // A function's lanes come together at its end; nothing is live there.
        const auto end = static_cast<std::uint32_t>(function_.body.size());
        const std::uint32_t op =
            code_.join_op[end] != FunctionCode::no_op ? code_.join_op[end] : code_.first_op[end];
        b_.CreateBr(make_exit(ptx::RegisterSet(function_.registers.size()), op_at(op)));
    } else {
        fall_through(flow_.block_of[blk.last]);
    }
}

void Translator::translate_instruction(std::uint32_t index) {
    count_region(index);
    translate_work(index);
}

void Translator::translate_work(std::uint32_t index) {
    const Instruction& instruction = function_.body[index];
    if (const auto row = row_of_.find(index);
        is_counted_ && row != row_of_.end() && rows_[row->second].first == index)
        b_.CreateStore(b_.getFalse(), rows_[row->second].is_inserted);
    // Read before the instruction writes to it.
    llvm::Value* guard =
        is_counted_ && instruction.guard != ptx::no_index ? guard_lanes(instruction) : nullptr;
    switch (instruction.opcode) {
        case Opcode::bra:
            translate_branch(index);
            return;
        case Opcode::ret:
        case Opcode::exit:
        case Opcode::trap:
        case Opcode::brx:
            if (instruction.guard == ptx::no_index) {
                if (is_kernel_ && (instruction.opcode == Opcode::ret || instruction.opcode == Opcode::exit))
                    go_on_as_next_warp(index);
                b_.CreateBr(exit_before(index));  // it is its block's last
                return;
            }
            expect(b_.CreateICmpEQ(guard_lanes(instruction), b_.getInt32(0)), exit_before(index));
            return;
        case Opcode::ld:
        case Opcode::ldu:
            if (translate_parameter(instruction, index) || translate_load(instruction, index)) return;
            break;
        case Opcode::st:
            if (translate_store(instruction, index)) return;
            break;
        default:
            if (code_.work_op(index) == end_op(index)) return;  // it does nothing
            if (translate_arithmetic(instruction, index)) {
                if (guard != nullptr) count_guarded(index, guard);
                return;
            }
            break;
    }
    run_handlers(index);
}

// Under a guard the old value stays where it does not hold.
void Translator::write_destination(const Instruction& instruction, const Operand& to, Value value) {
    if (to.kind != Operand::Kind::reg || slots_[to.reg] == nullptr) return;
    const Shape& shape = shapes_->of(to.reg);
    if (instruction.guard == ptx::no_index) {
        write(to.reg, value);
        return;
    }
    llvm::Value* guard = read(instruction.guard).v;
    if (instruction.guard_negated) guard = b_.CreateNot(guard);
    const Value old = read_open(to.reg);
    if (!guard->getType()->isVectorTy()) {
        write(to.reg, {shape, b_.CreateSelect(guard, fit(value, shape).v, old.v)});
        return;
    }
    write(to.reg, general(b_.CreateSelect(guard, vector(value), vector(old))));
}

llvm::Value* Translator::call_handlers(std::uint32_t index) {
    llvm::Value* services = field(layout_.services, b_.getPtrTy());
    llvm::Value* run = b_.CreateLoad(b_.getPtrTy(), services);
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), executed_),
                   b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, layout_.executed));
    auto* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(pointer, {pointer, pointer, pointer}, false);
    llvm::Value* end = op_at(end_op(index));
    llvm::CallInst* next = b_.CreateCall(type, run, {warp_, op_at(code_.work_op(index)), end});
    next->setDoesNotThrow();
    b_.CreateStore(field(layout_.executed, b_.getInt64Ty()), executed_);
    return b_.CreateICmpEQ(next, end);
}

void Translator::run_handlers(std::uint32_t index) {
    const Instruction& instruction = function_.body[index];
    ptx::RegisterSet written(function_.registers.size());
    visit_writes(instruction, [&](ptx::RegisterIndex reg) { written.insert(reg); });
    ptx::RegisterSet read(function_.registers.size());
    visit_reads(instruction, [&](ptx::RegisterIndex reg) { read.insert(reg); });
    if (instruction.guard != ptx::no_index) (void)read.merge(written);
    store_registers(read);
    llvm::Value* as_expected = call_handlers(index);
    llvm::Value* next = llvm::cast<llvm::ICmpInst>(as_expected)->getOperand(0);
    ptx::RegisterSet live(function_.registers.size());
    if (!stays_on_path(instruction)) {
        // What follows needs this, and the frame does not have it yet.
        live = liveness_->before(index + 1);
        for (const ptx::RegisterIndex reg : written.list()) live.erase(reg);
        as_expected =
            b_.CreateAnd(as_expected, b_.CreateICmpEQ(field(layout_.path_lanes, b_.getInt32Ty()), lanes_));
    }
    expect(as_expected, make_exit(live, next));
    load_registers(written);
}

}  // namespace trimtab::emulator::jit
