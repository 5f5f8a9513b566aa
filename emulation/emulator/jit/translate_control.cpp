// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, and the ways out of compiled code.
#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {

void Translator::leave(llvm::Value* op) {
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), executed_),
                   b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, layout_.executed));
    b_.CreateRet(op);
}

llvm::BasicBlock* Translator::make_exit(const ptx::RegisterSet& live, llvm::Value* op) {
    auto* exit = llvm::BasicBlock::Create(context_, "exit", made_);
    const auto before = b_.saveIP();
    b_.SetInsertPoint(exit);
    store_registers(live);
    leave(op);
    b_.restoreIP(before);
    return exit;
}

llvm::BasicBlock* Translator::exit_before(std::uint32_t index) {
    if (leaves_before_ != ptx::no_index) index = leaves_before_;
    auto [at, is_new] = exits_.try_emplace(code_.work_op(index), nullptr);
    if (!is_new) return at->second;
    auto* exit = llvm::BasicBlock::Create(context_, "exit", made_);
    const auto before = b_.saveIP();
    b_.SetInsertPoint(exit);
    store_registers(liveness_->before(index));
    leave(op_at(code_.work_op(index)));
    b_.restoreIP(before);
    return at->second = exit;
}

void Translator::expect(llvm::Value* condition, llvm::BasicBlock* other) {
    auto* next = llvm::BasicBlock::Create(context_, "on", made_);
    b_.CreateCondBr(condition, next, other, likely_);
    b_.SetInsertPoint(next);
}

// The warps of a block that is not counted need nothing but their numbers; the interpreter's bookkeeping does
// the rest.
void Translator::go_on_as_next_warp(std::uint32_t index) {
    // A loop around all of a large kernel takes longer to compile than starting warps takes.
    if (start_ == nullptr || function_.body.size() > 1000) return;
    const auto store = [this](std::size_t offset, llvm::Value* value) {
        b_.CreateStore(value, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, offset));
    };
    const Op& op = code_.ops[end_op(index) - 1];
    llvm::Value* before = b_.CreateLoad(b_.getInt64Ty(), executed_);
    llvm::Value* executed = b_.CreateAdd(before, b_.getInt64(op.cost));
    if (!is_counted_) {
        llvm::Value* more = field(layout_.more_warps, b_.getInt32Ty());
        auto* next = llvm::BasicBlock::Create(context_, "next_warp", made_);
        auto* last = llvm::BasicBlock::Create(context_, "last_warp", made_);
        b_.CreateCondBr(b_.CreateICmpNE(more, b_.getInt32(0)), next, last);
        b_.SetInsertPoint(next);
        store(layout_.more_warps, b_.CreateSub(more, b_.getInt32(1)));
        store(layout_.index, b_.CreateAdd(field(layout_.index, b_.getInt32Ty()), b_.getInt32(1)));
        llvm::Value* threads = field(layout_.threads, b_.getPtrTy());
        store(layout_.threads, b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), threads, 3 * warp_lanes));
        store(layout_.spins, b_.getInt32(0));
        b_.CreateStore(executed, executed_);
        b_.CreateBr(start_);
        b_.SetInsertPoint(last);
    }
    auto* ask = llvm::BasicBlock::Create(context_, "pass_on", made_);
    auto* more = llvm::BasicBlock::Create(context_, "more", made_);
    auto* end = llvm::BasicBlock::Create(context_, "end", made_);
    b_.CreateCondBr(b_.CreateICmpNE(field(layout_.may_pass_on, b_.getInt32Ty()), b_.getInt32(0)), ask, end);
    b_.SetInsertPoint(ask);
    store(layout_.executed, executed);
    auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy()}, false);
    llvm::CallInst* has_more = b_.CreateCall(type, service(offsetof(Services, pass_on)), {warp_});
    has_more->setDoesNotThrow();
    b_.CreateCondBr(b_.CreateICmpNE(has_more, b_.getInt32(0)), more, end);
    b_.SetInsertPoint(more);
    b_.CreateStore(field(layout_.executed, b_.getInt64Ty()), executed_);
    b_.CreateBr(start_);
    b_.SetInsertPoint(end);
}

// Into a block at whose start lanes may come together: the interpreter does that.
llvm::BasicBlock* Translator::way_into(ptx::BlockIndex block) {
    const std::uint32_t first = flow_.blocks[block].first;
    if (code_.join_op[first] == FunctionCode::no_op) return block_starts_[block];
    if (block_ways_[block] != nullptr) return block_ways_[block];
    auto* way = block_ways_[block] = llvm::BasicBlock::Create(context_, "way", made_);
    const auto before = b_.saveIP();
    b_.SetInsertPoint(way);
    llvm::Value* join = op_at(code_.join_op[first]);
    llvm::Value* passes = b_.CreateICmpNE(field(layout_.join, b_.getPtrTy()), join);
    b_.CreateCondBr(passes, block_starts_[block], make_exit(liveness_->into(block), join), likely_);
    b_.restoreIP(before);
    return way;
}

void Translator::fall_through(ptx::BlockIndex to) {
    b_.CreateBr(way_into(to));
}

// The branch at `index` is paid for; going back, the launch's limits are looked at: by the interpreter.
void Translator::jump(std::uint32_t index, ptx::BlockIndex to) {
    const std::uint32_t from = flow_.block_of[index];
    const Op& op = code_.ops[end_op(index) - 1];
    llvm::Value* executed = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), executed_), b_.getInt64(op.cost));
    if (order_[to] <= order_[from])
        expect(b_.CreateICmpULT(executed, field(layout_.check_at, b_.getInt64Ty())), exit_before(index));
    b_.CreateStore(executed, executed_);
    b_.CreateBr(way_into(to));
}

void Translator::translate_branch(std::uint32_t index) {
    const Instruction& instruction = function_.body[index];
    const std::uint32_t block = flow_.block_of[index];
    const auto& successors = flow_.blocks[block].successors;
    const ptx::BlockIndex target = successors[0];
    if (instruction.guard == ptx::no_index) {
        jump(index, target);
        return;
    }
    const ptx::BlockIndex next = successors.size() > 1 ? successors[1] : target;
    auto* taken = llvm::BasicBlock::Create(context_, "taken", made_);
    auto* not_taken = llvm::BasicBlock::Create(context_, "not_taken", made_);
    llvm::Value* guard = read(instruction.guard).v;
    if (!guard->getType()->isVectorTy()) {
        b_.CreateCondBr(guard, instruction.guard_negated ? not_taken : taken,
                        instruction.guard_negated ? taken : not_taken);
    } else {
        llvm::Value* lanes = guard_lanes(instruction);
        auto* some = llvm::BasicBlock::Create(context_, "some", made_);
        b_.CreateCondBr(b_.CreateICmpEQ(lanes, b_.getInt32(0)), not_taken, some);
        b_.SetInsertPoint(some);
        b_.CreateCondBr(b_.CreateICmpEQ(lanes, lanes_), taken, exit_before(index));
    }
    b_.SetInsertPoint(taken);
    jump(index, target);
    b_.SetInsertPoint(not_taken);
    jump(index, next);
}

}  // namespace trimtab::emulator::jit
