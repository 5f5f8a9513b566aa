// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What counted code does besides: passes through regions, lanes under guards. The counts are those of the
// interpreter's ops (exec/counting.cpp), which go on wherever it takes over.
#include <llvm/IR/Intrinsics.h>

#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
void Translator::call_service(std::size_t offset, llvm::ArrayRef<llvm::Value*> arguments) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* argument : arguments) types.push_back(argument->getType());
    llvm::Value* services = field(layout_.services, b_.getPtrTy());
    llvm::Value* service =
        b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), services, offset));
    b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), types, false), service, arguments)
        ->setDoesNotThrow();
}

// Byte `at` of what Warp's pointer at `offset` points to.
llvm::Value* Translator::count_place(std::size_t offset, std::uint64_t at) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), invariant(field(offset, b_.getPtrTy())), at);
}

void Translator::add_to(llvm::Value* place, llvm::Value* amount) {
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place), amount), place);
}

void Translator::add_to_count(const Op* op, std::size_t field_offset, llvm::Value* amount) {
    add_to(count_place(layout_.counts, std::uint64_t{op->index} * sizeof(InstructionCount) + field_offset),
           amount);
}

void Translator::set_active() {
    b_.CreateStore(b_.getInt8(1), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, layout_.active));
}

void Translator::count_slot(std::uint32_t slot, llvm::Value* threads) {
    const auto at = [&](std::size_t offset) {
        return count_place(layout_.slots, std::uint64_t{slot} * sizeof(SlotCount) + offset);
    };
    llvm::Value* warp = b_.CreateLoad(b_.getInt64Ty(), at(offsetof(SlotCount, warp)));
    llvm::Value* divergent = b_.CreateLoad(b_.getInt64Ty(), at(offsetof(SlotCount, divergent)));
    auto* first = llvm::BasicBlock::Create(context_, "first_time", made_);
    auto* count = llvm::BasicBlock::Create(context_, "count", made_);
    b_.CreateCondBr(b_.CreateICmpNE(b_.CreateOr(warp, divergent), b_.getInt64(0)), count, first, likely_);
    b_.SetInsertPoint(first);
    call_service(offsetof(Services, touch), {warp_, b_.getInt32(slot)});
    b_.CreateBr(count);
    b_.SetInsertPoint(count);
    b_.CreateStore(b_.CreateAdd(warp, b_.getInt64(1)), at(offsetof(SlotCount, warp)));
    add_to(at(offsetof(SlotCount, thread)), threads);
}

void Translator::count_region(std::uint32_t index) {
    if (!is_counted_ || code_.region_at[index] == FunctionCode::no_op) return;
    const RegionInfo& region = code_.regions[code_.region_at[index]];
    auto* done = llvm::BasicBlock::Create(context_, "counted", made_);
    if (region.left_pending.empty()) {
        auto* alone = llvm::BasicBlock::Create(context_, "alone", made_);
        auto* behind = llvm::BasicBlock::Create(context_, "behind_loads", made_);
        llvm::Value* pending = field(layout_.pending, b_.getPtrTy());
        b_.CreateCondBr(b_.CreateIsNull(pending), alone, behind, likely_);
        b_.SetInsertPoint(alone);
        count_slot(region.slot, path_threads_);
        if (region.rounds != 0) {
            add_to(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, layout_.dependent_rounds),
                   b_.getInt64(region.rounds));
        }
        b_.CreateBr(done);
        b_.SetInsertPoint(behind);
    }
    call_service(offsetof(Services, count_region), {warp_, op_at(code_.first_op[index])});
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

void Translator::count_guarded(std::uint32_t index, llvm::Value* lanes) {
    auto* some = llvm::BasicBlock::Create(context_, "some", made_);
    auto* done = llvm::BasicBlock::Create(context_, "counted", made_);
    b_.CreateCondBr(b_.CreateICmpNE(lanes, b_.getInt32(0)), some, done);
    b_.SetInsertPoint(some);
    count_slot(code_.instruction_base + index,
               b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), b_.getInt64Ty()));
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

}  // namespace trimtab::emulator::jit
