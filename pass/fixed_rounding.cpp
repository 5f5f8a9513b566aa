// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/fixed_rounding.h"

#include <vector>

#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

namespace trimtab::pass {
namespace {

using llvm::Instruction;

bool is_sum(const Instruction& instruction) {
    return instruction.getOpcode() == Instruction::FAdd || instruction.getOpcode() == Instruction::FSub;
}
bool is_product(const Instruction& instruction) {
    return instruction.getOpcode() == Instruction::FMul;
}
bool may_be_fused(const Instruction& instruction) {
    return (is_sum(instruction) || is_product(instruction)) && instruction.hasAllowContract();
}

// The product that a sum is fused with, by its place among the operands; 2: none. Of two the first.
unsigned product_of(const Instruction& sum) {
    for (unsigned i = 0; i < 2; i++)
        if (const auto* product = llvm::dyn_cast<Instruction>(sum.getOperand(i));
            product != nullptr && is_product(*product) && may_be_fused(*product) &&
            product->getParent() == sum.getParent())
            return i;
    return 2;
}

void fuse(Instruction& sum, unsigned place) {
    llvm::IRBuilder<> builder(&sum);
    const auto& product = llvm::cast<Instruction>(*sum.getOperand(place));
    llvm::Value *left = product.getOperand(0), *right = product.getOperand(1),
                *other = sum.getOperand(1 - place);
    if (sum.getOpcode() == Instruction::FSub)
        (place == 0 ? other : left) = builder.CreateFNeg(place == 0 ? other : left);
    sum.replaceAllUsesWith(
        builder.CreateIntrinsic(llvm::Intrinsic::fma, {sum.getType()}, {left, right, other}));
}

// In a form that is never fused.
void keep_apart(Instruction& product) {
    llvm::IRBuilder<> builder(&product);
    const bool is_double = product.getType()->isDoubleTy();
    const bool flushes = product.getFunction()->getDenormalMode(llvm::APFloat::IEEEsingle()).Output ==
                         llvm::DenormalMode::PreserveSign;
    const llvm::Intrinsic::ID id = is_double ? llvm::Intrinsic::nvvm_mul_rn_d
                                   : flushes ? llvm::Intrinsic::nvvm_mul_rn_ftz_f
                                             : llvm::Intrinsic::nvvm_mul_rn_f;
    product.replaceAllUsesWith(
        builder.CreateIntrinsic(product.getType(), id, {product.getOperand(0), product.getOperand(1)}));
}

}  // namespace

bool can_fix_rounding(const llvm::Function& function) {
    for (const Instruction& instruction : llvm::instructions(function)) {
        if (!llvm::isa<llvm::FPMathOperator>(instruction)) continue;
        llvm::FastMathFlags others = instruction.getFastMathFlags();
        others.setAllowContract(false);
        if (others.any()) return false;
        const llvm::Type* type = instruction.getType();
        if (may_be_fused(instruction) && !type->isFloatTy() && !type->isDoubleTy()) return false;
    }
    return true;
}

void fix_rounding(llvm::Function& function) {
    std::vector<Instruction*> sums, products;
    for (Instruction& instruction : llvm::instructions(function))
        if (may_be_fused(instruction)) (is_sum(instruction) ? sums : products).push_back(&instruction);
    for (Instruction* sum : sums) {
        if (const unsigned place = product_of(*sum); place < 2)
            fuse(*sum, place);
        else
            sum->setHasAllowContract(false);
    }
    for (Instruction* sum : sums)
        if (sum->use_empty()) sum->eraseFromParent();
    for (Instruction* product : products) {
        if (!product->use_empty()) keep_apart(*product);
        product->eraseFromParent();
    }
}

}  // namespace trimtab::pass
