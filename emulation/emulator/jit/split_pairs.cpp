// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/split_pairs.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include <array>
#include <vector>

namespace trimtab::emulator::jit {
namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
using Parts = std::array<llvm::Value*, 2>;

bool is_pair(const llvm::Type* type) {
    const auto* vector = dyn_cast<llvm::FixedVectorType>(type);
    return vector != nullptr && vector->getNumElements() == 2;
}

class Splitter {
  public:
    explicit Splitter(llvm::Function& function) : function_(function), b_(function.getContext()) {}

    void run() {
        // What is defined comes before what uses it, but for phis.
        const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
        for (llvm::BasicBlock* block : order) {
            for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) split(instruction);
        }
        for (llvm::PHINode* phi : phis_) {
            const Parts parts = parts_.lookup(phi);
            for (unsigned i = 0; i < phi->getNumIncomingValues(); i++) {
                llvm::BasicBlock* from = phi->getIncomingBlock(i);
                b_.SetInsertPoint(from->getTerminator());
                const Parts own = of(phi->getIncomingValue(i));
                for (unsigned part = 0; part < 2; part++)
                    cast<llvm::PHINode>(parts[part])->addIncoming(own[part], from);
            }
        }
        join();
    }

  private:
    Parts of(llvm::Value* value) {
        if (const auto known = parts_.find(value); known != parts_.end()) return known->second;
        if (auto* constant = dyn_cast<llvm::Constant>(value)) {
            llvm::Constant *first = constant->getAggregateElement(0u),
                           *second = constant->getAggregateElement(1u);
            if (first != nullptr && second != nullptr) return {first, second};
        }
        return {b_.CreateExtractElement(value, std::uint64_t{0}),
                b_.CreateExtractElement(value, std::uint64_t{1})};
    }

    template <class Make>
    void replace(llvm::Instruction& instruction, const Make& make) {
        b_.SetInsertPoint(&instruction);
        parts_[&instruction] = {make(0), make(1)};
        split_.push_back(&instruction);
    }

    void split(llvm::Instruction& instruction);
    // Where something else wants them as a vector.
    void join() {
        for (llvm::Instruction* instruction : split_) {
            bool is_wanted = false;
            for (const llvm::User* user : instruction->users())
                is_wanted = is_wanted || !parts_.contains(user);
            if (!is_wanted) continue;
            const Parts parts = parts_.lookup(instruction);
            if (isa<llvm::PHINode>(instruction))
                b_.SetInsertPoint(&*instruction->getParent()->getFirstInsertionPt());
            else
                b_.SetInsertPoint(instruction);
            llvm::Value* whole = llvm::PoisonValue::get(instruction->getType());
            for (unsigned i = 0; i < 2; i++)
                whole = b_.CreateInsertElement(whole, parts[i], std::uint64_t{i});
            instruction->replaceUsesWithIf(
                whole, [this](const llvm::Use& use) { return !parts_.contains(use.getUser()); });
        }
        for (llvm::Instruction* instruction : split_)
            instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
        for (llvm::Instruction* instruction : split_) instruction->eraseFromParent();
    }

    llvm::Function& function_;
    llvm::IRBuilder<> b_;
    llvm::DenseMap<const llvm::Value*, Parts> parts_;
    std::vector<llvm::Instruction*> split_;
    std::vector<llvm::PHINode*> phis_;
};

void Splitter::split(llvm::Instruction& instruction) {
    // What takes a pair and makes no pair.
    if (auto* extract = dyn_cast<llvm::ExtractElementInst>(&instruction)) {
        const auto* place = dyn_cast<llvm::ConstantInt>(extract->getIndexOperand());
        const auto known = parts_.find(extract->getVectorOperand());
        if (place == nullptr || known == parts_.end() || place->getZExtValue() > 1) return;
        extract->replaceAllUsesWith(known->second[place->getZExtValue()]);
        extract->eraseFromParent();
        return;
    }
    if (const auto* call = dyn_cast<llvm::IntrinsicInst>(&instruction);
        call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::vector_reduce_and &&
        is_pair(call->getArgOperand(0)->getType())) {
        b_.SetInsertPoint(&instruction);
        const Parts parts = of(call->getArgOperand(0));
        instruction.replaceAllUsesWith(b_.CreateAnd(parts[0], parts[1]));
        instruction.eraseFromParent();
        return;
    }
    if (!is_pair(instruction.getType())) return;
    if (auto* phi = dyn_cast<llvm::PHINode>(&instruction)) {
        phis_.push_back(phi);
        replace(instruction, [&](unsigned) {
            return b_.CreatePHI(phi->getType()->getScalarType(), phi->getNumIncomingValues());
        });
        return;
    }
    b_.SetInsertPoint(&instruction);
    std::vector<Parts> operands;
    const auto operand = [&](unsigned i, unsigned part) { return operands[i][part]; };
    for (llvm::Value* value : instruction.operands()) {
        if (is_pair(value->getType()))
            operands.push_back(of(value));
        else
            operands.push_back({value, value});
    }
    if (const auto* binary = dyn_cast<llvm::BinaryOperator>(&instruction)) {
        replace(instruction, [&](unsigned i) {
            return b_.CreateBinOp(binary->getOpcode(), operand(0, i), operand(1, i));
        });
    } else if (const auto* compare = dyn_cast<llvm::ICmpInst>(&instruction)) {
        replace(instruction, [&](unsigned i) {
            return b_.CreateICmp(compare->getPredicate(), operand(0, i), operand(1, i));
        });
    } else if (const auto* select = dyn_cast<llvm::SelectInst>(&instruction); select != nullptr) {
        replace(instruction,
                [&](unsigned i) { return b_.CreateSelect(operand(0, i), operand(1, i), operand(2, i)); });
    } else if (const auto* change = dyn_cast<llvm::CastInst>(&instruction);
               change != nullptr && is_pair(change->getSrcTy())) {
        replace(instruction, [&](unsigned i) {
            return b_.CreateCast(change->getOpcode(), operand(0, i), change->getDestTy()->getScalarType());
        });
    } else if (const auto* insert = dyn_cast<llvm::InsertElementInst>(&instruction)) {
        const auto* place = dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
        if (place == nullptr || place->getZExtValue() > 1) return;
        replace(instruction, [&](unsigned i) { return operand(i == place->getZExtValue() ? 1 : 0, i); });
    } else if (const auto* shuffle = dyn_cast<llvm::ShuffleVectorInst>(&instruction);
               shuffle != nullptr && is_pair(shuffle->getOperand(0)->getType())) {
        replace(instruction, [&](unsigned i) -> llvm::Value* {
            const int from = shuffle->getMaskValue(i);
            if (from < 0) return llvm::PoisonValue::get(shuffle->getType()->getScalarType());
            return operand(static_cast<unsigned>(from) / 2, static_cast<unsigned>(from) % 2);
        });
    }
}

}  // namespace

void split_pairs(llvm::Function& function) {
    Splitter(function).run();
}

}  // namespace trimtab::emulator::jit
