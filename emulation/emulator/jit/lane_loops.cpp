// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/lane_loops.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <vector>

#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator::jit {
namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

// Fewer operations than this are not worth a loop.
constexpr unsigned least_operations = 4;
// Of 64 bits, two registers of the widest kind: the two hide one another's latencies. With one, code is made
// in three quarters of the time, but runs up to twice as long.
constexpr unsigned part_lanes = 16;

bool has_lanes(const llvm::Type* type) {
    const auto* vector = dyn_cast<llvm::FixedVectorType>(type);
    return vector != nullptr && vector->getNumElements() == warp_lanes;
}

unsigned lane_bits(const llvm::Type* type) {
    const llvm::Type* lane = type->getScalarType();
    return lane->isPointerTy() ? 64 : lane->getPrimitiveSizeInBits().getFixedValue();
}

bool is_predicate(const llvm::Type* type) {
    return lane_bits(type) == 1;
}

// <32 x i1> -> i32, and back.
bool is_reduction(const llvm::Instruction& instruction) {
    return isa<llvm::BitCastInst>(instruction) && has_lanes(instruction.getOperand(0)->getType()) &&
           instruction.getType()->isIntegerTy(warp_lanes);
}
llvm::Value* expanded(const llvm::Value* value) {
    const auto* made = dyn_cast<llvm::BitCastInst>(value);
    if (made == nullptr || !has_lanes(made->getType()) || made->getOperand(0)->getType()->isVectorTy())
        return nullptr;
    return made->getOperand(0);
}

// The scalar that every lane has; nullptr: none.
llvm::Value* splat_source(const llvm::Value* value) {
    const auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(value);
    if (shuffle == nullptr || !has_lanes(shuffle->getType()) || !shuffle->isZeroEltSplat()) return nullptr;
    const auto* insert = dyn_cast<llvm::InsertElementInst>(shuffle->getOperand(0));
    if (insert == nullptr) return nullptr;
    const auto* place = dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    return place != nullptr && place->isZero() ? insert->getOperand(1) : nullptr;
}

class LaneLoops {
  public:
    LaneLoops(llvm::Function& function, const llvm::DenseSet<const llvm::AllocaInst*>& slots)
        : function_(function), slots_(slots), context_(function.getContext()), b_(context_) {}

    void run() {
        // What is defined comes before what uses it.
        const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
        const std::vector<llvm::BasicBlock*> blocks(order.begin(), order.end());
        for (llvm::BasicBlock* block : blocks) run(*block);
    }

  private:
    void run(llvm::BasicBlock& block);
    [[nodiscard]] bool is_lane_operation(const llvm::Instruction& instruction) const;
    [[nodiscard]] const llvm::AllocaInst* slot_of(const llvm::Value* pointer) const;
    [[nodiscard]] const llvm::AllocaInst* loaded_slot(const llvm::Value* value) const;
    // A load of this block from a slot that the block does not store to.
    [[nodiscard]] bool is_steady(const llvm::Value* value) const;
    [[nodiscard]] bool is_at_hand(const llvm::Value* value) const;
    void add(llvm::Instruction& instruction);
    void flush(llvm::Instruction* before);
    llvm::Type* part_type(llvm::Type* type);
    llvm::Value* offset(unsigned bits);
    llvm::Value* place(llvm::Value* base, unsigned bits);
    llvm::Value* load_part(llvm::Value* base, llvm::Type* type, llvm::Align alignment);
    void store_part(llvm::Value* base, llvm::Value* part);
    llvm::Value* part_of(llvm::Value* value);
    llvm::Value* part_of_constant(llvm::Constant* constant);
    llvm::Value* translate(llvm::Instruction& instruction);
    void give_out(llvm::Instruction& instruction, llvm::BasicBlock& rest);
    llvm::AllocaInst* home(llvm::Value* value);
    llvm::AllocaInst* make_home(bool is_block_local);

    llvm::Function& function_;
    const llvm::DenseSet<const llvm::AllocaInst*>& slots_;
    llvm::LLVMContext& context_;
    llvm::IRBuilder<> b_;
    // Values that lie in memory besides, of the function and of this block alone.
    llvm::DenseMap<llvm::Value*, llvm::AllocaInst*> homes_, block_homes_;
    std::vector<llvm::AllocaInst*> pool_;  // for values of one block
    std::size_t pool_used_ = 0;
    llvm::DenseSet<const llvm::Value*> in_block_, stored_slots_;
    // What the next loop does.
    std::vector<llvm::Instruction*> run_;
    llvm::DenseSet<const llvm::Value*> in_run_;
    llvm::DenseSet<const llvm::AllocaInst*> slots_in_run_;
    unsigned operations_ = 0;
    bool reads_memory_ = false;
    // The loop that is being made.
    llvm::PHINode* counter_ = nullptr;
    std::map<unsigned, llvm::Value*> offsets_;
    llvm::DenseMap<llvm::Value*, llvm::Value*> parts_;
};

const llvm::AllocaInst* LaneLoops::slot_of(const llvm::Value* pointer) const {
    const auto* slot = dyn_cast<llvm::AllocaInst>(pointer);
    return slot != nullptr && slots_.contains(slot) ? slot : nullptr;
}

const llvm::AllocaInst* LaneLoops::loaded_slot(const llvm::Value* value) const {
    const auto* load = dyn_cast<llvm::LoadInst>(value);
    return load == nullptr ? nullptr : slot_of(load->getPointerOperand());
}

bool LaneLoops::is_steady(const llvm::Value* value) const {
    const llvm::AllocaInst* slot = loaded_slot(value);
    return slot != nullptr && in_block_.contains(value) && !stored_slots_.contains(slot);
}

bool LaneLoops::is_at_hand(const llvm::Value* value) const {
    return isa<llvm::Constant>(value) || in_run_.contains(value) || splat_source(value) != nullptr ||
           expanded(value) != nullptr || is_steady(value) || homes_.contains(value) ||
           block_homes_.contains(value);
}

bool LaneLoops::is_lane_operation(const llvm::Instruction& instruction) const {
    if (is_reduction(instruction)) return true;
    if (!has_lanes(instruction.getType()) || expanded(&instruction) != nullptr) return false;
    if (isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CmpInst, llvm::SelectInst, llvm::FreezeInst,
            llvm::GetElementPtrInst>(instruction)) {
        return true;
    }
    if (isa<llvm::CastInst>(instruction)) return has_lanes(instruction.getOperand(0)->getType());
    if (const auto* load = dyn_cast<llvm::LoadInst>(&instruction))
        return loaded_slot(load) != nullptr ? !is_steady(load)
                                            : load->isSimple() && !is_predicate(load->getType());
    if (const auto* call = dyn_cast<llvm::IntrinsicInst>(&instruction)) {
        return call->getIntrinsicID() == llvm::Intrinsic::masked_gather ||
               llvm::isTriviallyVectorizable(call->getIntrinsicID());
    }
    return false;
}

void LaneLoops::add(llvm::Instruction& instruction) {
    run_.push_back(&instruction);
    in_run_.insert(&instruction);
    if (const llvm::AllocaInst* slot = loaded_slot(&instruction))
        slots_in_run_.insert(slot);
    else if (instruction.mayReadFromMemory() && !isa<llvm::StoreInst>(instruction))
        reads_memory_ = true;
    if (!isa<llvm::LoadInst, llvm::StoreInst>(instruction)) operations_++;
}

void LaneLoops::run(llvm::BasicBlock& block) {
    std::vector<llvm::Instruction*> all;
    in_block_.clear();
    stored_slots_.clear();
    block_homes_.clear();
    pool_used_ = 0;
    for (llvm::Instruction& instruction : block) {
        all.push_back(&instruction);
        in_block_.insert(&instruction);
        if (const auto* store = dyn_cast<llvm::StoreInst>(&instruction)) {
            if (const llvm::AllocaInst* slot = slot_of(store->getPointerOperand()))
                stored_slots_.insert(slot);
        }
        // What restores registers stores to slots, too.
        if (const auto* call = dyn_cast<llvm::CallInst>(&instruction)) {
            for (const llvm::Use& argument : call->args()) {
                if (const llvm::AllocaInst* slot = slot_of(argument.get())) stored_slots_.insert(slot);
            }
        }
    }
    for (llvm::Instruction* instruction : all) {
        if (is_lane_operation(*instruction)) {
            add(*instruction);
            continue;
        }
        const auto* store = dyn_cast<llvm::StoreInst>(instruction);
        const llvm::AllocaInst* slot = store == nullptr ? nullptr : slot_of(store->getPointerOperand());
        if (slot != nullptr && has_lanes(store->getValueOperand()->getType()) &&
            is_at_hand(store->getValueOperand())) {
            slots_in_run_.insert(slot);
            add(*instruction);
            continue;
        }
        bool is_needed = instruction->isTerminator() || (slot != nullptr && slots_in_run_.contains(slot));
        for (const llvm::Use& operand : instruction->operands())
            is_needed = is_needed || in_run_.contains(operand.get());
        if (slot == nullptr && instruction->mayWriteToMemory()) {
            is_needed = is_needed || reads_memory_;
            if (const auto* call = dyn_cast<llvm::CallInst>(instruction)) {
                for (const llvm::Use& argument : call->args())
                    is_needed = is_needed || slot_of(argument.get()) != nullptr;
            }
        }
        if (is_needed) flush(instruction);
    }
}

llvm::Type* LaneLoops::part_type(llvm::Type* type) {
    return llvm::FixedVectorType::get(type->getScalarType(), part_lanes);
}

// In bytes, of the part from the first one.
llvm::Value* LaneLoops::offset(unsigned bits) {
    llvm::Value*& made = offsets_[bits];
    if (made == nullptr) {
        const llvm::IRBuilder<>::InsertPointGuard guard(b_);
        b_.SetInsertPoint(counter_->getParent(), std::next(counter_->getIterator()));
        made = b_.CreateNUWMul(counter_, b_.getInt64(std::uint64_t{part_lanes} * bits / 8));
    }
    return made;
}

llvm::Value* LaneLoops::place(llvm::Value* base, unsigned bits) {
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), base, offset(bits));
}

llvm::Value* LaneLoops::load_part(llvm::Value* base, llvm::Type* type, llvm::Align alignment) {
    const unsigned bits = lane_bits(type);
    alignment = llvm::commonAlignment(alignment, std::uint64_t{part_lanes} * bits / 8);
    if (!is_predicate(type)) return b_.CreateAlignedLoad(part_type(type), place(base, bits), alignment);
    return b_.CreateBitCast(b_.CreateAlignedLoad(b_.getIntNTy(part_lanes), place(base, 1), alignment),
                            part_type(type));
}

void LaneLoops::store_part(llvm::Value* base, llvm::Value* part) {
    const unsigned bits = lane_bits(part->getType());
    if (is_predicate(part->getType())) part = b_.CreateBitCast(part, b_.getIntNTy(part_lanes));
    b_.CreateAlignedStore(part, place(base, bits), llvm::Align(std::uint64_t{part_lanes} * bits / 8));
}

llvm::AllocaInst* LaneLoops::make_home(bool is_block_local) {
    if (is_block_local && pool_used_ < pool_.size()) return pool_[pool_used_++];
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(&*function_.getEntryBlock().begin());
    llvm::AllocaInst* made = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), warp_lanes));
    made->setAlignment(llvm::Align(64));
    if (is_block_local) {
        pool_.push_back(made);
        pool_used_++;
    }
    return made;
}

// Where the value, of a vector or of 32 bits, lies in memory: from where it is defined on.
llvm::AllocaInst* LaneLoops::home(llvm::Value* value) {
    if (const auto found = block_homes_.find(value); found != block_homes_.end()) return found->second;
    if (const auto found = homes_.find(value); found != homes_.end()) return found->second;
    const bool is_own = in_block_.contains(value);
    llvm::AllocaInst* const made = make_home(is_own);
    (is_own ? block_homes_ : homes_)[value] = made;
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    if (auto* instruction = dyn_cast<llvm::Instruction>(value))
        b_.SetInsertPoint(*instruction->getInsertionPointAfterDef());
    else
        b_.SetInsertPoint(function_.getEntryBlock().getTerminator());
    b_.CreateAlignedStore(value, made, llvm::Align(64));
    return made;
}

llvm::Value* LaneLoops::part_of_constant(llvm::Constant* constant) {
    llvm::Type* type = part_type(constant->getType());
    if (isa<llvm::PoisonValue>(constant)) return llvm::PoisonValue::get(type);
    if (isa<llvm::UndefValue>(constant) || constant->isNullValue()) return llvm::Constant::getNullValue(type);
    if (llvm::Constant* one = constant->getSplatValue(true))
        return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(part_lanes), one);
    std::vector<llvm::Constant*> lanes;
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        lanes.push_back(constant->getAggregateElement(lane));
        if (is_predicate(type) && lanes.back()->isOneValue()) bits |= 1u << lane;
    }
    llvm::Constant* words =
        is_predicate(type)
            ? static_cast<llvm::Constant*>(b_.getInt32(bits))
            : llvm::ConstantArray::get(llvm::ArrayType::get(type->getScalarType(), warp_lanes), lanes);
    auto* global = new llvm::GlobalVariable(*function_.getParent(), words->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, words, "lanes");
    global->setAlignment(llvm::Align(64));
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return load_part(global, constant->getType(), llvm::Align(64));
}

llvm::Value* LaneLoops::part_of(llvm::Value* value) {
    if (!has_lanes(value->getType())) return value;
    if (const auto found = parts_.find(value); found != parts_.end()) return found->second;
    llvm::Value* made = nullptr;
    if (auto* constant = dyn_cast<llvm::Constant>(value))
        made = part_of_constant(constant);
    else if (llvm::Value* one = splat_source(value))
        made = b_.CreateVectorSplat(part_lanes, one);
    else if (llvm::Value* bits = expanded(value))
        made = load_part(home(bits), value->getType(), llvm::Align(4));
    else if (is_steady(value))
        made = load_part(cast<llvm::LoadInst>(value)->getPointerOperand(), value->getType(), llvm::Align(64));
    else
        made = load_part(home(value), value->getType(), llvm::Align(64));
    return parts_[value] = made;
}

llvm::Value* LaneLoops::translate(llvm::Instruction& instruction) {
    const auto part = [&](unsigned i) { return part_of(instruction.getOperand(i)); };
    if (is_reduction(instruction)) return part(0);
    if (auto* store = dyn_cast<llvm::StoreInst>(&instruction)) {
        store_part(store->getPointerOperand(), part_of(store->getValueOperand()));
        return nullptr;
    }
    if (auto* load = dyn_cast<llvm::LoadInst>(&instruction)) {
        llvm::Value* made = load_part(load->getPointerOperand(), load->getType(),
                                      loaded_slot(load) != nullptr ? llvm::Align(64) : load->getAlign());
        if (auto* own = dyn_cast<llvm::LoadInst>(made)) own->copyMetadata(*load);
        return made;
    }
    if (auto* call = dyn_cast<llvm::IntrinsicInst>(&instruction)) {
        if (call->getIntrinsicID() == llvm::Intrinsic::masked_gather) {
            return b_.CreateMaskedGather(part_type(call->getType()), part(0),
                                         call->getParamAlign(0).valueOrOne(), part(1), part(2));
        }
        llvm::SmallVector<llvm::Type*> types;
        const bool is_known = llvm::Intrinsic::getIntrinsicSignature(
            call->getIntrinsicID(), call->getCalledFunction()->getFunctionType(), types);
        (void)is_known;
        for (llvm::Type*& type : types) {
            if (has_lanes(type)) type = part_type(type);
        }
        std::vector<llvm::Value*> arguments;
        for (unsigned i = 0; i < call->arg_size(); i++) arguments.push_back(part(i));
        return b_.CreateIntrinsic(call->getIntrinsicID(), types, arguments);
    }
    if (auto* address = dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
        std::vector<llvm::Value*> indices;
        for (unsigned i = 1; i < address->getNumOperands(); i++) indices.push_back(part(i));
        llvm::Value* made =
            b_.CreateGEP(address->getSourceElementType(), part(0), indices, "", address->getNoWrapFlags());
        return made->getType()->isVectorTy() ? made : b_.CreateVectorSplat(part_lanes, made);
    }
    llvm::Instruction* made = instruction.clone();
    made->mutateType(part_type(instruction.getType()));
    for (unsigned i = 0; i < instruction.getNumOperands(); i++) made->setOperand(i, part(i));
    return b_.Insert(made);
}

// What others than the loop need of it.
void LaneLoops::give_out(llvm::Instruction& instruction, llvm::BasicBlock& rest) {
    bool is_needed = false, is_block_local = true;
    for (const llvm::User* user : instruction.users()) {
        if (in_run_.contains(user)) continue;
        is_needed = true;
        is_block_local = is_block_local && in_block_.contains(user);
    }
    if (!is_needed) return;
    llvm::AllocaInst* const place = make_home(is_block_local);
    store_part(place, parts_.lookup(&instruction));
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(&rest, rest.getFirstInsertionPt());
    llvm::Value* all = b_.CreateAlignedLoad(instruction.getType(), place, llvm::Align(64));
    (is_block_local ? block_homes_ : homes_)[all] = place;
    if (is_block_local) in_block_.insert(all);
    instruction.replaceUsesWithIf(all,
                                  [this](const llvm::Use& use) { return !in_run_.contains(use.getUser()); });
}

void LaneLoops::flush(llvm::Instruction* before) {
    if (operations_ >= least_operations) {
        llvm::BasicBlock* const head = before->getParent();
        llvm::BasicBlock* const rest = head->splitBasicBlock(before->getIterator(), "behind_lanes");
        auto* const loop = llvm::BasicBlock::Create(context_, "lanes", &function_, rest);
        head->getTerminator()->setSuccessor(0, loop);
        b_.SetInsertPoint(loop);
        counter_ = b_.CreatePHI(b_.getInt64Ty(), 2);
        counter_->addIncoming(b_.getInt64(0), head);
        offsets_.clear();
        parts_.clear();
        for (llvm::Instruction* instruction : run_) {
            if (llvm::Value* made = translate(*instruction)) parts_[instruction] = made;
        }
        for (llvm::Instruction* instruction : run_) {
            if (!instruction->getType()->isVoidTy()) give_out(*instruction, *rest);
        }
        llvm::Value* next = b_.CreateNUWAdd(counter_, b_.getInt64(1));
        // Opaque: there is nothing to gain from rewriting the addresses, which takes LLVM long.
        auto* same = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getInt64Ty()}, false);
        next = b_.CreateCall(llvm::InlineAsm::get(same, "", "=r,0", false), {next});
        counter_->addIncoming(next, loop);
        b_.CreateCondBr(b_.CreateICmpEQ(next, b_.getInt64(warp_lanes / part_lanes)), rest, loop);
        for (llvm::Instruction* instruction : llvm::reverse(run_)) {
            in_block_.erase(instruction);
            homes_.erase(instruction);
            block_homes_.erase(instruction);
            instruction->eraseFromParent();
        }
    }
    run_.clear();
    in_run_.clear();
    slots_in_run_.clear();
    operations_ = 0;
    reads_memory_ = false;
}

}  // namespace

void make_lane_loops(llvm::Function& function, const llvm::DenseSet<const llvm::AllocaInst*>& slots) {
    LaneLoops(function, slots).run();
}

}  // namespace trimtab::emulator::jit
