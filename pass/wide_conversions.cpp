// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/wide_conversions.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace trimtab::pass {
namespace {

constexpr unsigned wide_bits = 128;
constexpr double two_to_64 = 18446744073709551616.0;

bool is_wide_conversion(const llvm::Instruction& instruction) {
    const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
    if (cast == nullptr) return false;
    const auto is_wide = [](const llvm::Type* type) { return type->isIntegerTy(wide_bits); };
    const auto is_real = [](const llvm::Type* type) { return type->isFloatTy() || type->isDoubleTy(); };
    switch (cast->getOpcode()) {
        case llvm::Instruction::UIToFP:
        case llvm::Instruction::SIToFP:
            return is_wide(cast->getSrcTy()) && is_real(cast->getDestTy());
        case llvm::Instruction::FPToUI:
        case llvm::Instruction::FPToSI:
            return is_real(cast->getSrcTy()) && is_wide(cast->getDestTy());
        default:
            return false;
    }
}

// The number's first 64 bits, with the last of them set where anything follows, round as the whole does; then
// the exponent is put right.
llvm::Value* unsigned_to_real(llvm::IRBuilder<>& builder, llvm::Value* number, llvm::Type* real) {
    llvm::Type* half = builder.getInt64Ty();
    llvm::Value* zeros = builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, number, builder.getFalse());
    llvm::Value* shifted = builder.CreateShl(number, builder.CreateAnd(zeros, wide_bits - 1));
    llvm::Value* first = builder.CreateTrunc(builder.CreateLShr(shifted, wide_bits / 2), half);
    llvm::Value* follows = builder.CreateIsNotNull(builder.CreateTrunc(shifted, half));
    llvm::Value* rounded =
        builder.CreateUIToFP(builder.CreateOr(first, builder.CreateZExt(follows, half)), real);
    const bool is_double = real->isDoubleTy();
    llvm::Type* bits = is_double ? half : builder.getInt32Ty();
    const unsigned bias = is_double ? 1023 : 127;
    const unsigned mantissa = is_double ? 52 : 23;
    llvm::Value* exponent = builder.CreateSub(llvm::ConstantInt::get(bits, bias + wide_bits / 2),
                                              builder.CreateTrunc(zeros, bits));
    return builder.CreateFMul(rounded, builder.CreateBitCast(builder.CreateShl(exponent, mantissa), real));
}

// Its upper and its lower half, each exact.
llvm::Value* real_to_unsigned(llvm::IRBuilder<>& builder, llvm::Value* number, llvm::Type* wide) {
    llvm::Type* half = builder.getInt64Ty();
    llvm::Type* real = builder.getDoubleTy();
    llvm::Value* value = builder.CreateFPExt(number, real);
    llvm::Value* upper =
        builder.CreateFPToUI(builder.CreateFMul(value, llvm::ConstantFP::get(real, 1 / two_to_64)), half);
    llvm::Value* taken =
        builder.CreateFMul(builder.CreateUIToFP(upper, real), llvm::ConstantFP::get(real, two_to_64));
    llvm::Value* lower = builder.CreateFPToUI(builder.CreateFSub(value, taken), half);
    return builder.CreateOr(builder.CreateShl(builder.CreateZExt(upper, wide), wide_bits / 2),
                            builder.CreateZExt(lower, wide));
}

llvm::Value* expanded(llvm::CastInst& cast) {
    llvm::IRBuilder<> builder(&cast);
    llvm::Value* number = cast.getOperand(0);
    llvm::Type* type = cast.getDestTy();
    switch (cast.getOpcode()) {
        case llvm::Instruction::UIToFP:
            return unsigned_to_real(builder, number, type);
        case llvm::Instruction::FPToUI:
            return real_to_unsigned(builder, number, type);
        case llvm::Instruction::SIToFP: {
            llvm::Value* negative = builder.CreateIsNeg(number);
            llvm::Value* size = builder.CreateSelect(negative, builder.CreateNeg(number), number);
            llvm::Value* result = unsigned_to_real(builder, size, type);
            return builder.CreateSelect(negative, builder.CreateFNeg(result), result);
        }
        default: {
            llvm::Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, number);
            llvm::Value* result = real_to_unsigned(builder, size, type);
            llvm::Value* negative =
                builder.CreateFCmpOLT(number, llvm::ConstantFP::getZero(number->getType()));
            return builder.CreateSelect(negative, builder.CreateNeg(result), result);
        }
    }
}

}  // namespace

bool expand_wide_conversions(llvm::Module& module) {
    std::vector<llvm::CastInst*> conversions;
    for (llvm::Function& function : module)
        for (llvm::Instruction& instruction : llvm::instructions(function))
            if (is_wide_conversion(instruction))
                conversions.push_back(llvm::cast<llvm::CastInst>(&instruction));
    for (llvm::CastInst* conversion : conversions) {
        conversion->replaceAllUsesWith(expanded(*conversion));
        conversion->eraseFromParent();
    }
    return !conversions.empty();
}

}  // namespace trimtab::pass
