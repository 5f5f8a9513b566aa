// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point instructions, comparisons and conversions: what vector/real_ops.h, compare.cpp and
// convert.cpp compute, in LLVM's terms.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

using ptx::Comparison;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;
namespace intrinsic = llvm::Intrinsic;

bool is_real(Type type) {
    return type == Type::f32 || type == Type::f64;
}
bool to_nearest(Rounding rounding) {
    return rounding == Rounding::none || rounding == Rounding::rn;
}
bool is_plain_integer(Type type) {
    switch (type) {
        case Type::b16:
        case Type::u16:
        case Type::s16:
        case Type::b32:
        case Type::u32:
        case Type::s32:
        case Type::b64:
        case Type::u64:
        case Type::s64:
        case Type::u8:
        case Type::s8:
            return true;
        default:
            return false;
    }
}

}  // namespace

llvm::Value* Translator::as_real(llvm::Value* bits) {
    llvm::Type* type = bits->getType()->getScalarSizeInBits() == 32 ? b_.getFloatTy() : b_.getDoubleTy();
    if (bits->getType()->isVectorTy()) type = llvm::FixedVectorType::get(type, warp_lanes);
    return b_.CreateBitCast(bits, type);
}

llvm::Value* Translator::as_bits(llvm::Value* real) {
    llvm::Type* type = b_.getIntNTy(real->getType()->getScalarSizeInBits());
    if (real->getType()->isVectorTy()) type = llvm::FixedVectorType::get(type, warp_lanes);
    return b_.CreateBitCast(real, type);
}

// The NaN that GPUs make, as bits: chosen among integers, where no NaN is as good as another.
llvm::Value* Translator::canonical(llvm::Value* real) {
    constexpr unsigned any_nan = 3;  // LLVM's FPClassTest
    llvm::Value* bits = as_bits(real);
    llvm::Value* is_nan =
        b_.CreateIntrinsic(intrinsic::is_fpclass, {real->getType()}, {real, b_.getInt32(any_nan)});
    const bool single = bits->getType()->getScalarSizeInBits() == 32;
    return b_.CreateSelect(is_nan, constant_like(bits, single ? 0x7fffffffu : 0xfff8000000000000u), bits);
}

// .ftz of binary32, as bits.
llvm::Value* Translator::flush(llvm::Value* bits, bool ftz) {
    if (!ftz || bits->getType()->getScalarSizeInBits() != 32) return bits;
    llvm::Value* exponent = b_.CreateAnd(bits, constant_like(bits, 0x7f800000u));
    llvm::Value* tiny = b_.CreateICmpEQ(exponent, constant_like(bits, 0));
    return b_.CreateSelect(tiny, b_.CreateAnd(bits, constant_like(bits, 0x80000000u)), bits);
}

bool Translator::translate_real(const Instruction& instruction) {
    const unsigned bytes = ptx::size_bytes(instruction.type);
    const auto& modifiers = instruction.modifiers;
    const bool ftz = modifiers.ftz && bytes == 4;
    if (!is_compiled_real(instruction)) return false;
    const std::size_t count = instruction.sources().size();
    std::vector<llvm::Value*> bits, v;
    const auto want = [&](std::size_t n, Nans nans = Nans::any) {
        if (count != n || !operands(instruction, bytes, bits, 99, nans)) return false;
        for (llvm::Value*& own : bits) {
            own = flush(own, ftz);
            v.push_back(as_real(own));
        }
        return true;
    };
    llvm::Value* made = nullptr;  // a number still to be flushed and made canonical
    llvm::Value* finished = nullptr;
    switch (instruction.opcode) {
        case Opcode::add:
            if (want(2)) made = b_.CreateFAdd(v[0], v[1]);
            break;
        case Opcode::sub:
            if (want(2)) made = b_.CreateFSub(v[0], v[1]);
            break;
        case Opcode::mul:
            if (want(2)) made = b_.CreateFMul(v[0], v[1]);
            break;
        case Opcode::fma:
        case Opcode::mad:
            if (want(3)) made = b_.CreateIntrinsic(intrinsic::fma, {v[0]->getType()}, {v[0], v[1], v[2]});
            break;
        case Opcode::div:
            // .approx has a range of divisors of its own.
            if (modifiers.rounding != Rounding::approx && want(2)) made = b_.CreateFDiv(v[0], v[1]);
            break;
        case Opcode::rcp:
            if (want(1)) made = b_.CreateFDiv(llvm::ConstantFP::get(v[0]->getType(), 1.0), v[0]);
            break;
        case Opcode::sqrt:
            if (want(1)) made = b_.CreateUnaryIntrinsic(intrinsic::sqrt, v[0]);
            break;
        case Opcode::rsqrt: {
            if (bytes != 4 || !want(1)) break;
            llvm::Type* wide = b_.getDoubleTy();
            if (v[0]->getType()->isVectorTy()) wide = llvm::FixedVectorType::get(wide, warp_lanes);
            llvm::Value* root = b_.CreateUnaryIntrinsic(intrinsic::sqrt, b_.CreateFPExt(v[0], wide));
            made = b_.CreateFPTrunc(b_.CreateFDiv(llvm::ConstantFP::get(wide, 1.0), root), v[0]->getType());
            break;
        }
        case Opcode::neg:
            if (want(1, Nans::exact))
                finished = b_.CreateXor(bits[0], constant_like(bits[0], std::uint64_t{1} << (bytes * 8 - 1)));
            break;
        case Opcode::abs:
            if (want(1, Nans::exact))
                finished =
                    b_.CreateAnd(bits[0], constant_like(bits[0], ~(std::uint64_t{1} << (bytes * 8 - 1))));
            break;
        case Opcode::min:
        case Opcode::max: {
            if (!want(2)) break;
            const bool least = instruction.opcode == Opcode::min;
            llvm::Value* zero = constant_like(bits[0], 0);
            llvm::Value* negative = b_.CreateICmpSLT(bits[0], zero);
            llvm::Value* tie =
                b_.CreateAnd(b_.CreateFCmpOEQ(v[0], v[1]), least ? negative : b_.CreateNot(negative));
            llvm::Value* first =
                b_.CreateOr(least ? b_.CreateFCmpOLT(v[0], v[1]) : b_.CreateFCmpOGT(v[0], v[1]), tie);
            llvm::Value* r = b_.CreateSelect(first, bits[0], bits[1]);
            r = b_.CreateSelect(b_.CreateFCmpUNO(v[1], v[1]), bits[0], r);
            if (modifiers.nan_) {
                const std::uint64_t nan = bytes == 4 ? 0x7fffffffu : 0xfff8000000000000u;
                r = b_.CreateSelect(b_.CreateFCmpUNO(v[0], v[1]), constant_like(r, nan), r);
            }
            made = as_real(r);
            break;
        }
        default:
            break;
    }
    if (made != nullptr) {
        finished = flush(as_bits(made), ftz);
        if (nans_of(instruction.operands[0]) == Nans::exact) finished = canonical(as_real(finished));
    }
    if (finished == nullptr) return false;
    write_destination(instruction, instruction.operands[0], shaped(finished));
    return true;
}

bool Translator::translate_compare(const Instruction& instruction) {
    const Type type = instruction.type;
    const unsigned bytes = ptx::size_bytes(type);
    const auto sources = instruction.sources();
    const auto boolean = instruction.modifiers.boolean_op;
    const bool combined = boolean != ptx::BooleanOp::none;
    if (sources.size() != (combined ? 3u : 2u) || boolean == ptx::BooleanOp::popc) return false;
    // The second predicate is written under the guard that was, not under what the first one becomes.
    if (instruction.destination_count > 1 && instruction.guard != ptx::no_index &&
        instruction.operands[0].reg == instruction.guard) {
        return false;
    }
    if (!is_real(type) && (!is_plain_integer(type) || bytes < 2)) return false;
    std::vector<llvm::Value*> v;
    for (unsigned i = 0; i < 2; i++) {
        const auto value = source(sources[i], bytes, type, is_real(type) ? Nans::any : Nans::exact);
        if (!value) return false;
        v.push_back(value->is_scalar() ? value->v : vector(*value));
    }
    even(v);
    using P = llvm::CmpInst::Predicate;
    P predicate_kind = P::BAD_ICMP_PREDICATE;
    const bool sign = ptx::is_signed(type);
    if (is_real(type)) {
        for (llvm::Value*& one : v) one = as_real(flush(one, instruction.modifiers.ftz && bytes == 4));
        switch (instruction.modifiers.comparison) {
            case Comparison::eq:
                predicate_kind = P::FCMP_OEQ;
                break;
            case Comparison::ne:
                predicate_kind = P::FCMP_ONE;
                break;
            case Comparison::lt:
                predicate_kind = P::FCMP_OLT;
                break;
            case Comparison::le:
                predicate_kind = P::FCMP_OLE;
                break;
            case Comparison::gt:
                predicate_kind = P::FCMP_OGT;
                break;
            case Comparison::ge:
                predicate_kind = P::FCMP_OGE;
                break;
            case Comparison::equ:
                predicate_kind = P::FCMP_UEQ;
                break;
            case Comparison::neu:
                predicate_kind = P::FCMP_UNE;
                break;
            case Comparison::ltu:
                predicate_kind = P::FCMP_ULT;
                break;
            case Comparison::leu:
                predicate_kind = P::FCMP_ULE;
                break;
            case Comparison::gtu:
                predicate_kind = P::FCMP_UGT;
                break;
            case Comparison::geu:
                predicate_kind = P::FCMP_UGE;
                break;
            case Comparison::num:
                predicate_kind = P::FCMP_ORD;
                break;
            case Comparison::nan:
                predicate_kind = P::FCMP_UNO;
                break;
            default:
                return false;
        }
    } else {
        switch (instruction.modifiers.comparison) {
            case Comparison::eq:
                predicate_kind = P::ICMP_EQ;
                break;
            case Comparison::ne:
                predicate_kind = P::ICMP_NE;
                break;
            case Comparison::lo:
            case Comparison::lt:
                predicate_kind = sign ? P::ICMP_SLT : P::ICMP_ULT;
                break;
            case Comparison::ls:
            case Comparison::le:
                predicate_kind = sign ? P::ICMP_SLE : P::ICMP_ULE;
                break;
            case Comparison::hi:
            case Comparison::gt:
                predicate_kind = sign ? P::ICMP_SGT : P::ICMP_UGT;
                break;
            case Comparison::hs:
            case Comparison::ge:
                predicate_kind = sign ? P::ICMP_SGE : P::ICMP_UGE;
                break;
            default:
                return false;
        }
    }
    llvm::Value* result = b_.CreateCmp(predicate_kind, v[0], v[1]);
    std::optional<Value> with;
    if (combined) {
        with = predicate(sources[2]);
        if (!with) return false;
    }
    const auto finish = [&](llvm::Value* own) {
        if (!combined) return own;
        std::vector<llvm::Value*> both{own, with->v};
        even(both);
        if (boolean == ptx::BooleanOp::and_) return b_.CreateAnd(both[0], both[1]);
        if (boolean == ptx::BooleanOp::or_) return b_.CreateOr(both[0], both[1]);
        return b_.CreateXor(both[0], both[1]);
    };
    llvm::Value* first = finish(result);
    llvm::Value* second = instruction.destination_count > 1 ? finish(b_.CreateNot(result)) : nullptr;
    write_destination(instruction, instruction.operands[0], shaped(first));
    if (second != nullptr) write_destination(instruction, instruction.operands[1], shaped(second));
    return true;
}

bool Translator::translate_convert(const Instruction& instruction, std::uint32_t index) {
    const Type to = instruction.type, from = instruction.source_type;
    const auto& modifiers = instruction.modifiers;
    if (instruction.destination_count != 1 || instruction.sources().size() != 1 || modifiers.relu ||
        instruction.operands[0].kind != Operand::Kind::reg) {
        return false;
    }
    (void)index;
    const Operand& operand = instruction.operands[1];
    const unsigned d_bytes = register_bytes(function_, instruction.operands[0].reg);
    unsigned a_bytes = ptx::size_bytes(from) == 1 ? 2 : ptx::size_bytes(from);
    if (operand.kind == Operand::Kind::reg) a_bytes = register_bytes(function_, operand.reg);
    if (d_bytes < 2 || d_bytes > 8 || a_bytes < 2 || a_bytes > 8 || a_bytes < ptx::size_bytes(from) ||
        d_bytes < ptx::size_bytes(to)) {
        return false;
    }
    const auto value = source(operand, a_bytes, from, is_real(from) ? Nans::any : Nans::exact);
    if (!value) return false;
    llvm::Value* a = value->is_scalar() ? value->v : vector(*value);
    const bool vectors = a->getType()->isVectorTy();
    const auto type_of = [&](Type type) -> llvm::Type* {
        llvm::Type* scalar = b_.getIntNTy(ptx::size_bytes(type) * 8);
        if (type == Type::f32) scalar = b_.getFloatTy();
        if (type == Type::f64) scalar = b_.getDoubleTy();
        return vectors ? llvm::FixedVectorType::get(scalar, warp_lanes) : scalar;
    };
    llvm::Value* made = nullptr;
    if (is_plain_integer(from) && is_plain_integer(to)) {
        if (modifiers.sat) return false;
        llvm::Value* narrow = b_.CreateTrunc(a, type_of(from));
        llvm::Value* sized = ptx::is_signed(from) ? b_.CreateSExtOrTrunc(narrow, type_of(to))
                                                  : b_.CreateZExtOrTrunc(narrow, type_of(to));
        made = resize(sized, d_bytes, ptx::is_signed(to));
    } else if (is_plain_integer(from) && is_real(to)) {
        if (!to_nearest(modifiers.rounding) || modifiers.sat || ptx::size_bytes(from) < 4) return false;
        made =
            as_bits(ptx::is_signed(from) ? b_.CreateSIToFP(a, type_of(to)) : b_.CreateUIToFP(a, type_of(to)));
    } else if (from == Type::f32 && to == Type::f64) {
        if (modifiers.sat || modifiers.ftz) return false;
        made = canonical(b_.CreateFPExt(as_real(a), type_of(to)));
    } else if (from == Type::f64 && to == Type::f32) {
        if (modifiers.sat || modifiers.ftz || !to_nearest(modifiers.rounding)) return false;
        made = canonical(b_.CreateFPTrunc(as_real(a), type_of(to)));
    } else if (is_real(from) && (to == Type::s32 || to == Type::u32) && from == Type::f32 &&
               modifiers.rounding == Rounding::rzi && !modifiers.ftz && !modifiers.sat) {
        // Saturating, NaN as 0: what LLVM's saturating conversion does.
        const auto id = to == Type::s32 ? intrinsic::fptosi_sat : intrinsic::fptoui_sat;
        made = b_.CreateIntrinsic(id, {type_of(to), type_of(from)}, {as_real(a)});
        made = resize(made, d_bytes, to == Type::s32);
    }
    if (made == nullptr) return false;
    if (made->getType()->getScalarSizeInBits() != d_bytes * 8) return false;
    write_destination(instruction, instruction.operands[0], shaped(made));
    return true;
}

bool Translator::translate_arithmetic(const Instruction& instruction, std::uint32_t index) {
    if (instruction.destination_count == 0) return false;
    for (const Operand& operand : instruction.destinations()) {
        if (operand.kind == Operand::Kind::reg && slots_[operand.reg] == nullptr) return false;
    }
    const Opcode opcode = instruction.opcode;
    switch (opcode) {
        case Opcode::setp:
            return translate_compare(instruction);
        case Opcode::selp:
            return translate_select(instruction);
        default:
            break;
    }
    if (is_pure(opcode) && !is_elementwise(instruction)) return false;  // it reads or leaves a state
    if (instruction.destination_count != 1) return false;
    if (instruction.type == Type::pred) return translate_logic(instruction);
    if (translate_product(instruction, index)) return true;
    switch (opcode) {
        case Opcode::mov:
            return translate_move(instruction, index);
        case Opcode::cvta: {
            const bool global = instruction.modifiers.space == ptx::Space::global ||
                                instruction.modifiers.space == ptx::Space::constant;
            return global && instruction.operands[1].kind == Operand::Kind::reg &&
                   translate_move(instruction, index);
        }
        case Opcode::cvt:
            return translate_convert(instruction, index);
        default:
            break;
    }
    if (is_real(instruction.type) && opcode != Opcode::set && opcode != Opcode::slct)
        return translate_real(instruction);
    if (is_plain_integer(instruction.type) && opcode != Opcode::set && opcode != Opcode::slct)
        return translate_integer(instruction);
    return false;
}

}  // namespace trimtab::emulator::jit
