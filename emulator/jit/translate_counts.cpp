// What counted code does besides: passes through regions, lanes under guards, memory requests. The counts are
// those of the interpreter's ops (exec/counting.cpp, exec/count_requests.cpp), which go on wherever it takes
// over.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "emulator/jit/abi.h"
#include "emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

// count_shared(), of all lanes at these offsets from an address that is a multiple of 4.
std::uint64_t wavefronts(const Offsets& offsets, unsigned bytes) {
    const unsigned words = bytes / 4, parts = std::min(words, 8u), lanes_each = warp_lanes / parts;
    std::uint64_t sum = 0;
    for (unsigned part = 0; part < parts; part++) {
        std::array<std::vector<std::int64_t>, warp_lanes> in_bank;
        std::size_t most = 0;
        for (unsigned lane = part * lanes_each; lane < (part + 1) * lanes_each; lane++) {
            for (unsigned word = 0; word < words; word++) {
                const std::int64_t at = (offsets[lane] >> 2) + word;
                auto& bank = in_bank[static_cast<std::uint64_t>(at) % warp_lanes];
                if (std::ranges::find(bank, at) == bank.end()) bank.push_back(at);
                most = std::max(most, bank.size());
            }
        }
        sum += most;
    }
    return sum;
}

}  // namespace

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

void Translator::count_access(const Access& access, std::uint32_t index, bool in_runs) {
    if (!is_counted_) return;
    if (function_.body[index].guard != ptx::no_index) count_guarded(index, access.lanes);
    const Op* op = memory_op(index);
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    if (!info.counted) return;
    llvm::Value* op_place = op_at(static_cast<std::uint32_t>(op - code_.ops.data()));
    const std::uint64_t bytes = info.total_bytes;
    const Shape& shape = access.shape;
    bool consecutive = shape.is_pattern();
    for (unsigned lane = 0; lane < warp_lanes; lane++)
        consecutive = consecutive && shape.offsets[lane] == static_cast<std::int64_t>(lane * bytes);
    const bool is_shared = info.space == ptx::Space::shared;
    const bool is_known = is_shared && shape.is_pattern() && bytes >= 4;
    auto* done = llvm::BasicBlock::Create(context_, "counted", made_);
    if (shape.is_uniform() || consecutive || is_known) {
        auto* all = llvm::BasicBlock::Create(context_, "all_lanes", made_);
        auto* some = llvm::BasicBlock::Create(context_, "some_lanes", made_);
        b_.CreateCondBr(b_.CreateICmpEQ(access.lanes, b_.getInt32(all_lanes)), all, some, likely_);
        b_.SetInsertPoint(all);
        if (is_shared) {
            std::uint64_t passes = is_known ? wavefronts(shape.offsets, info.total_bytes) : 1;
            if (consecutive) passes = std::max<std::uint64_t>(1, bytes / 4);
            const auto add = [&](std::size_t offset, std::uint64_t amount) {
                add_to(
                    count_place(layout_.counts, std::uint64_t{op->index} * sizeof(InstructionCount) + offset),
                    b_.getInt64(amount));
            };
            add(offsetof(InstructionCount, requests), 1);
            add(offsetof(InstructionCount, bytes), bytes * warp_lanes);
            add(offsetof(InstructionCount, wavefronts), passes);
            b_.CreateStore(b_.getInt8(1),
                           b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, layout_.active));
        } else {
            llvm::Value* end =
                b_.CreateAdd(access.address, b_.getInt64(consecutive ? bytes * warp_lanes : bytes));
            call_service(offsetof(Services, count_span), {warp_, op_place, access.address, end});
        }
        b_.CreateBr(done);
        b_.SetInsertPoint(some);
    }
    // Runs that were found where they were expected.
    if (!is_shared && in_runs) {
        auto* all = llvm::BasicBlock::Create(context_, "all_lanes", made_);
        auto* some = llvm::BasicBlock::Create(context_, "some_lanes", made_);
        b_.CreateCondBr(b_.CreateICmpEQ(access.lanes, b_.getInt32(all_lanes)), all, some, likely_);
        b_.SetInsertPoint(all);
        const unsigned run = hints_->run_lanes();
        for (unsigned lane = 0; lane < warp_lanes; lane += run) {
            b_.CreateAlignedStore(
                b_.CreateExtractElement(access.address, std::uint64_t{lane}),
                b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_,
                                              layout_.addresses + lane * sizeof(std::uint64_t)),
                llvm::Align(8));
        }
        const bool same = (*access.hint)[1] == 0;
        call_service(offsetof(Services, count_runs),
                     {warp_, op_place, b_.getInt32(run), b_.getInt64(same ? bytes : run * bytes)});
        b_.CreateBr(done);
        b_.SetInsertPoint(some);
    }
    b_.CreateAlignedStore(vector({shape, access.address}),
                          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, layout_.addresses),
                          llvm::Align(64));
    call_service(offsetof(Services, count_lanes), {warp_, op_place, access.lanes});
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

}  // namespace trimtab::emulator::jit
