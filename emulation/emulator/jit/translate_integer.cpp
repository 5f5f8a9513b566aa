// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer and logic instructions: what core/ptx/semantics/integer.h and bits.h say, in LLVM's terms.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

using llvm::Intrinsic::ID;
using ptx::Opcode;
using ptx::Type;
namespace intrinsic = llvm::Intrinsic;

}  // namespace

llvm::Value* Translator::constant_like(llvm::Value* like, std::uint64_t bits) {
    return llvm::ConstantInt::get(like->getType(), bits, false, true);
}

// Scalars where all are; else vectors all.
void Translator::even(std::vector<llvm::Value*>& values) {
    const bool any = std::ranges::any_of(values, [](llvm::Value* v) { return v->getType()->isVectorTy(); });
    if (!any) return;
    for (llvm::Value*& value : values) {
        if (!value->getType()->isVectorTy()) value = splat(value);
    }
}

// The sources from `shift_from` on are 32 bits wide whatever the type: shift amounts.
bool Translator::operands(const Instruction& instruction, unsigned bytes, std::vector<llvm::Value*>& out,
                          unsigned shift_from, Nans nans) {
    const auto sources = instruction.sources();
    for (unsigned i = 0; i < sources.size(); i++) {
        const bool narrow = i >= shift_from;
        const auto value =
            source(sources[i], narrow ? 4 : bytes, narrow ? Type::u32 : instruction.type, nans);
        if (!value) return false;
        out.push_back(value->is_scalar() ? value->v : vector(*value));
    }
    even(out);
    return true;
}

// Amounts above the width count as the width (PTX ISA, shl and shr).
llvm::Value* Translator::shift(Opcode opcode, llvm::Value* a, llvm::Value* by, bool sign) {
    const unsigned bits = a->getType()->getScalarSizeInBits();
    llvm::Value* in_range = b_.CreateICmpULT(by, constant_like(by, bits));
    llvm::Type* type = a->getType();
    if (opcode == Opcode::shr && sign) {
        llvm::Value* amount = b_.CreateSelect(in_range, by, constant_like(by, bits - 1));
        return b_.CreateAShr(a, b_.CreateZExtOrTrunc(amount, type));
    }
    llvm::Value* amount = b_.CreateZExtOrTrunc(b_.CreateAnd(by, constant_like(by, bits - 1)), type);
    llvm::Value* shifted = opcode == Opcode::shl ? b_.CreateShl(a, amount) : b_.CreateLShr(a, amount);
    return b_.CreateSelect(in_range, shifted, constant_like(a, 0));
}

// By zero: all ones; the smallest by -1 wraps (core/ptx/semantics/integer.h, Divide).
llvm::Value* Translator::divide(llvm::Value* a, llvm::Value* by, bool sign, bool remainder) {
    const unsigned bits = a->getType()->getScalarSizeInBits();
    llvm::Value* zero = b_.CreateICmpEQ(by, constant_like(by, 0));
    llvm::Value* minus = sign ? b_.CreateICmpEQ(by, constant_like(by, ~std::uint64_t{0})) : nullptr;
    llvm::Value* divisor =
        b_.CreateSelect(minus == nullptr ? zero : b_.CreateOr(zero, minus), constant_like(by, 1), by);
    llvm::Value* quotient = nullptr;
    if (bits == 32 && a->getType()->isVectorTy()) {
        // Exact in binary64: a quotient lies at least 1/divisor from the next integer.
        llvm::Type* real = llvm::FixedVectorType::get(b_.getDoubleTy(), warp_lanes);
        llvm::Value* x = sign ? b_.CreateSIToFP(a, real) : b_.CreateUIToFP(a, real);
        llvm::Value* y = sign ? b_.CreateSIToFP(divisor, real) : b_.CreateUIToFP(divisor, real);
        llvm::Value* q = b_.CreateFDiv(x, y);
        quotient = sign ? b_.CreateFPToSI(q, a->getType()) : b_.CreateFPToUI(q, a->getType());
    } else {
        quotient = sign ? b_.CreateSDiv(a, divisor) : b_.CreateUDiv(a, divisor);
    }
    if (remainder) {
        llvm::Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, divisor));
        if (minus != nullptr) rest = b_.CreateSelect(minus, constant_like(a, 0), rest);
        return b_.CreateSelect(zero, constant_like(a, ~std::uint64_t{0}), rest);
    }
    if (minus != nullptr) quotient = b_.CreateSelect(minus, b_.CreateNeg(a), quotient);
    return b_.CreateSelect(zero, constant_like(a, ~std::uint64_t{0}), quotient);
}

// Patterns stay patterns, and runs runs: lane 0's value, or that of each run's first lane, is computed; the
// shape knows the rest.
bool Translator::translate_product(const Instruction& instruction, std::uint32_t index) {
    if (instruction.destination_count != 1 || instruction.guard != ptx::no_index ||
        instruction.operands[0].kind != Operand::Kind::reg) {
        return false;
    }
    const ptx::RegisterIndex to = instruction.operands[0].reg;
    const Shape& shape = shapes_->of(to);
    if ((!shape.is_pattern() && !shape.is_runs()) || slots_[to] == nullptr) return false;
    if (!shapes_->keeps_shape(instruction)) return false;
    const unsigned bytes = ptx::size_bytes(instruction.type);
    const auto sources = instruction.sources();
    const bool wide = instruction.modifiers.multiply_part == ptx::MultiplyPart::wide;
    const unsigned d_bytes = wide ? 2 * bytes : bytes;
    std::vector<Value> values;
    for (std::size_t i = 0; i < sources.size(); i++) {
        unsigned own = i == 2 ? d_bytes : bytes;
        if (instruction.opcode == Opcode::shl && i == 1) own = 4;
        if (instruction.opcode == Opcode::cvt) own = ptx::size_bytes(instruction.source_type);
        const auto value = source(sources[i], own, instruction.type);
        if (!value || value->shape.is_general() || (value->shape.is_runs() && !shape.is_runs())) return false;
        values.push_back(shape.is_runs() ? in_runs(*value) : *value);
    }
    llvm::Value* made = nullptr;
    switch (instruction.opcode) {
        case Opcode::mov:
        case Opcode::cvta:
            if (instruction.opcode == Opcode::cvta && instruction.modifiers.space != ptx::Space::global &&
                instruction.modifiers.space != ptx::Space::constant) {
                return false;
            }
            made = values[0].v;
            break;
        case Opcode::add:
            made = b_.CreateAdd(values[0].v, values[1].v);
            break;
        case Opcode::sub:
            made = b_.CreateSub(values[0].v, values[1].v);
            break;
        case Opcode::shl:
            made = shift(Opcode::shl, values[0].v, values[1].v, false);
            break;
        case Opcode::mul:
        case Opcode::mad: {
            if (instruction.modifiers.multiply_part == ptx::MultiplyPart::hi) return false;
            llvm::Value* a = values[0].v;
            llvm::Value* by = values[1].v;
            if (wide) {
                const bool sign = ptx::is_signed(instruction.type);
                a = widen_pattern(values[0], sign, index);
                by = widen_pattern(values[1], sign, index);
            }
            made = b_.CreateMul(a, by);
            if (values.size() > 2) made = b_.CreateAdd(made, values[2].v);
            break;
        }
        case Opcode::cvt: {
            const unsigned from = ptx::size_bytes(instruction.source_type);
            made = d_bytes > from ? widen_pattern(values[0], ptx::is_signed(instruction.source_type), index)
                                  : resize(values[0].v, d_bytes, false);
            break;
        }
        default:
            return false;
    }
    write(to, {shape, made});
    return true;
}

llvm::Value* Translator::widen_pattern(const Value& value, bool sign, std::uint32_t index) {
    llvm::Value* wide = resize(value.v, 8, sign);
    if (value.shape.is_same_in_runs()) return wide;
    const auto [low, high] = std::ranges::minmax(value.shape.offsets);
    // Of 32 bits: the sum of either extreme stays what 32 bits can say.
    const std::int64_t least = sign ? -(std::int64_t{1} << 31) : 0;
    const std::int64_t most = sign ? (std::int64_t{1} << 31) - 1 : (std::int64_t{1} << 32) - 1;
    llvm::Value* above = b_.CreateICmpSGE(wide, constant_like(wide, static_cast<std::uint64_t>(least - low)));
    llvm::Value* below = b_.CreateICmpSLE(wide, constant_like(wide, static_cast<std::uint64_t>(most - high)));
    llvm::Value* good = b_.CreateAnd(above, below);
    expect(good->getType()->isVectorTy() ? b_.CreateAndReduce(good) : good, exit_before(index));
    return wide;
}

bool Translator::translate_integer(const Instruction& instruction) {
    const Type type = instruction.type;
    const unsigned bytes = ptx::size_bytes(type);
    const bool sign = ptx::is_signed(type);
    const auto& modifiers = instruction.modifiers;
    if ((bytes != 2 && bytes != 4 && bytes != 8) || modifiers.sat || modifiers.relu || modifiers.carry_out ||
        type == Type::s16x2 || type == Type::u16x2) {
        return false;
    }
    const auto part = modifiers.multiply_part;
    std::vector<llvm::Value*> v;
    llvm::Value* made = nullptr;
    const std::size_t count = instruction.sources().size();
    const auto want = [&](std::size_t n, unsigned shift_from = 99) {
        return count == n && operands(instruction, bytes, v, shift_from);
    };
    switch (instruction.opcode) {
        case Opcode::add:
            if (want(2)) made = b_.CreateAdd(v[0], v[1]);
            break;
        case Opcode::sub:
            if (want(2)) made = b_.CreateSub(v[0], v[1]);
            break;
        case Opcode::and_:
            if (want(2)) made = b_.CreateAnd(v[0], v[1]);
            break;
        case Opcode::or_:
            if (want(2)) made = b_.CreateOr(v[0], v[1]);
            break;
        case Opcode::xor_:
            if (want(2)) made = b_.CreateXor(v[0], v[1]);
            break;
        case Opcode::not_:
            if (want(1)) made = b_.CreateNot(v[0]);
            break;
        case Opcode::neg:
            if (want(1)) made = b_.CreateNeg(v[0]);
            break;
        case Opcode::abs:
            if (sign && want(1)) made = b_.CreateBinaryIntrinsic(intrinsic::abs, v[0], b_.getFalse());
            break;
        case Opcode::cnot:
            if (want(1)) made = b_.CreateZExt(b_.CreateICmpEQ(v[0], constant_like(v[0], 0)), v[0]->getType());
            break;
        case Opcode::min:
        case Opcode::max: {
            if (!want(2)) break;
            const bool least = instruction.opcode == Opcode::min;
            const ID signed_id = least ? intrinsic::smin : intrinsic::smax;
            const ID unsigned_id = least ? intrinsic::umin : intrinsic::umax;
            made = b_.CreateBinaryIntrinsic(sign ? signed_id : unsigned_id, v[0], v[1]);
            break;
        }
        case Opcode::shl:
        case Opcode::shr:
            if (count == 2 && operands(instruction, bytes, v, 1))
                made = shift(instruction.opcode, v[0], v[1], sign);
            break;
        case Opcode::popc:
        case Opcode::clz: {
            if (bytes == 2 || !want(1)) break;
            made = instruction.opcode == Opcode::popc
                       ? b_.CreateUnaryIntrinsic(intrinsic::ctpop, v[0])
                       : b_.CreateBinaryIntrinsic(intrinsic::ctlz, v[0], b_.getFalse());
            made = resize(made, 4, false);
            break;
        }
        case Opcode::brev:
            if (bytes != 2 && want(1)) made = b_.CreateUnaryIntrinsic(intrinsic::bitreverse, v[0]);
            break;
        case Opcode::div:
        case Opcode::rem:
            // Vectors of other widths would be divided lane by lane, at length.
            if (!want(2) || (v[0]->getType()->isVectorTy() && bytes != 4)) break;
            made = divide(v[0], v[1], sign, instruction.opcode == Opcode::rem);
            break;
        case Opcode::mul:
        case Opcode::mad: {
            if (count != (instruction.opcode == Opcode::mul ? 2u : 3u)) break;
            const unsigned d_bytes = part == ptx::MultiplyPart::wide ? 2 * bytes : bytes;
            if (part != ptx::MultiplyPart::lo && part != ptx::MultiplyPart::none && bytes == 8) break;
            for (std::size_t i = 0; i < count; i++) {
                Type own = type;
                if (i == 2 && d_bytes != bytes) own = sign ? Type::s64 : Type::u64;
                const auto value = source(instruction.sources()[i], i == 2 ? d_bytes : bytes, own);
                if (!value) return false;
                v.push_back(value->is_scalar() ? value->v : vector(*value));
            }
            even(v);
            if (part == ptx::MultiplyPart::wide) {
                made = b_.CreateMul(resize(v[0], d_bytes, sign), resize(v[1], d_bytes, sign));
            } else if (part == ptx::MultiplyPart::hi) {
                llvm::Value* product =
                    b_.CreateMul(resize(v[0], 2 * bytes, sign), resize(v[1], 2 * bytes, sign));
                made = resize(b_.CreateLShr(product, constant_like(product, bytes * 8)), bytes, false);
            } else {
                made = b_.CreateMul(v[0], v[1]);
            }
            if (count == 3) made = b_.CreateAdd(made, v[2]);
            break;
        }
        case Opcode::bfe: {
            if (count != 3 || bytes == 2 || !operands(instruction, bytes, v, 1)) break;
            const unsigned bits = bytes * 8;
            llvm::Value* position = b_.CreateAnd(v[1], constant_like(v[1], 0xff));
            llvm::Value* length = b_.CreateAnd(v[2], constant_like(v[2], 0xff));
            llvm::Value* empty = b_.CreateICmpEQ(length, constant_like(length, 0));
            llvm::Value* field = shift(Opcode::shr, v[0], position, sign);
            llvm::Value* up =
                b_.CreateBinaryIntrinsic(intrinsic::usub_sat, constant_like(length, bits), length);
            up = b_.CreateZExtOrTrunc(b_.CreateAnd(up, constant_like(up, bits - 1)), field->getType());
            field = b_.CreateShl(field, up);
            field = sign ? b_.CreateAShr(field, up) : b_.CreateLShr(field, up);
            made = b_.CreateSelect(empty, constant_like(field, 0), field);
            break;
        }
        case Opcode::lop3: {
            if (bytes != 4 || count != 4 || modifiers.boolean_op != ptx::BooleanOp::none) break;
            const std::uint64_t table = instruction.sources()[3].bits;
            for (unsigned i = 0; i < 3; i++) {
                const auto value = source(instruction.sources()[i], 4, Type::b32);
                if (!value) return false;
                v.push_back(value->is_scalar() ? value->v : vector(*value));
            }
            even(v);
            // The sum of products; LLVM knows better instructions for it.
            made = constant_like(v[0], 0);
            for (unsigned row = 0; row < 8; row++) {
                if (((table >> row) & 1) == 0) continue;
                llvm::Value* a = (row & 4) != 0 ? v[0] : b_.CreateNot(v[0]);
                llvm::Value* b = (row & 2) != 0 ? v[1] : b_.CreateNot(v[1]);
                llvm::Value* c = (row & 1) != 0 ? v[2] : b_.CreateNot(v[2]);
                made = b_.CreateOr(made, b_.CreateAnd(b_.CreateAnd(a, b), c));
            }
            break;
        }
        case Opcode::shf: {
            if (bytes != 4 || !want(3)) break;
            if (modifiers.clamp) {
                llvm::Value* whole = b_.CreateICmpUGE(v[2], constant_like(v[2], 32));
                const ID id = modifiers.left ? intrinsic::fshl : intrinsic::fshr;
                made = b_.CreateIntrinsic(id, {v[0]->getType()}, {v[1], v[0], v[2]});
                made = b_.CreateSelect(whole, modifiers.left ? v[0] : v[1], made);
            } else {
                const ID id = modifiers.left ? intrinsic::fshl : intrinsic::fshr;
                made = b_.CreateIntrinsic(id, {v[0]->getType()}, {v[1], v[0], v[2]});
            }
            break;
        }
        default:
            break;
    }
    if (made == nullptr) return false;
    write_destination(instruction, instruction.operands[0], shaped(made));
    return true;
}

bool Translator::translate_logic(const Instruction& instruction) {
    std::vector<llvm::Value*> v;
    for (const Operand& operand : instruction.sources()) {
        const auto value = predicate(operand);
        if (!value) return false;
        v.push_back(value->v);
    }
    even(v);
    llvm::Value* made = nullptr;
    if (v.size() == 2 && instruction.opcode == Opcode::and_) made = b_.CreateAnd(v[0], v[1]);
    if (v.size() == 2 && instruction.opcode == Opcode::or_) made = b_.CreateOr(v[0], v[1]);
    if (v.size() == 2 && instruction.opcode == Opcode::xor_) made = b_.CreateXor(v[0], v[1]);
    if (v.size() == 1 && instruction.opcode == Opcode::not_) made = b_.CreateNot(v[0]);
    if (v.size() == 1 && instruction.opcode == Opcode::mov) made = v[0];
    if (made == nullptr) return false;
    write_destination(instruction, instruction.operands[0], shaped(made));
    return true;
}

bool Translator::translate_select(const Instruction& instruction) {
    const unsigned bytes = ptx::size_bytes(instruction.type);
    const auto sources = instruction.sources();
    if (sources.size() != 3 || bytes < 2 || bytes > 8) return false;
    const Nans nans = nans_of(instruction.operands[0]);
    const auto a = source(sources[0], bytes, instruction.type, nans);
    const auto b = source(sources[1], bytes, instruction.type, nans);
    const auto c = predicate(sources[2]);
    if (!a || !b || !c) return false;
    if (a->is_scalar() && b->is_scalar() && c->is_scalar()) {
        write_destination(instruction, instruction.operands[0], uniform(b_.CreateSelect(c->v, a->v, b->v)));
        return true;
    }
    llvm::Value* made = b_.CreateSelect(c->v, vector(*a), vector(*b));
    write_destination(instruction, instruction.operands[0], general(made));
    return true;
}

bool Translator::translate_move(const Instruction& instruction, std::uint32_t index) {
    if (instruction.operands.size() != 2) return false;
    const Operand& to = instruction.operands[0];
    const Operand& from = instruction.operands[1];
    const unsigned bytes = ptx::size_bytes(instruction.type);
    using Kind = Operand::Kind;
    if (bytes < 2 || bytes > 8) return false;
    if (from.kind == Kind::vector) {
        const auto count = static_cast<unsigned>(from.elements.size());
        if (count == 0 || bytes % count != 0 || bytes / count < 2) return false;
        std::vector<llvm::Value*> parts;
        for (const Operand& element : from.elements) {
            const auto value = source(element, bytes / count, Type::none);
            if (!value) return false;
            parts.push_back(value->is_scalar() ? value->v : vector(*value));
        }
        even(parts);
        llvm::Value* made = nullptr;
        for (unsigned i = 0; i < count; i++) {
            llvm::Value* part = resize(parts[i], bytes, false);
            part = b_.CreateShl(part, constant_like(part, std::uint64_t{i} * 8 * (bytes / count)));
            made = made == nullptr ? part : b_.CreateOr(made, part);
        }
        write_destination(instruction, to, shaped(made));
        return true;
    }
    if (to.kind == Kind::vector) {
        const auto count = static_cast<unsigned>(to.elements.size());
        if (count == 0 || bytes % count != 0 || bytes / count < 2) return false;
        const auto value = source(from, bytes, instruction.type);
        if (!value) return false;
        llvm::Value* whole = value->is_scalar() ? value->v : vector(*value);
        std::vector<llvm::Value*> parts;
        for (unsigned i = 0; i < count; i++) {
            llvm::Value* part =
                b_.CreateLShr(whole, constant_like(whole, std::uint64_t{i} * 8 * (bytes / count)));
            parts.push_back(resize(part, bytes / count, false));
        }
        for (unsigned i = 0; i < count; i++) write_destination(instruction, to.elements[i], shaped(parts[i]));
        return true;
    }
    if (from.kind == Kind::symbol) {
        // A variable's address is a constant of the launch.
        const Op& op = code_.ops[code_.work_op(index)];
        if (instruction.guard != ptx::no_index ||
            op.a >> base_shift != static_cast<unsigned>(Base::constants) || op.a == no_operand) {
            return false;
        }
        llvm::Value* base =
            field(layout_.bases + static_cast<unsigned>(Base::constants) * sizeof(void*), b_.getPtrTy());
        llvm::Value* place = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset_of(op.a));
        llvm::Value* value = b_.CreateAlignedLoad(scalar_type(bytes), place, llvm::Align(bytes));
        write_destination(instruction, to, uniform(value));
        return true;
    }
    const auto value = source(from, bytes, instruction.type, nans_of(to));
    if (!value) return false;
    write_destination(instruction, to, *value);
    return true;
}

}  // namespace trimtab::emulator::jit
