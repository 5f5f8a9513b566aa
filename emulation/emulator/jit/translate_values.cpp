// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers and operands as values of LLVM's.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <bit>

#include "core/ptx/special_registers.h"
#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

// A literal in the type that the instruction works in.
std::uint64_t literal_bits(const ptx::Operand& operand, ptx::Type wanted) {
    if (operand.type == ptx::Type::f64 && wanted == ptx::Type::f32)
        return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
    if (operand.type == ptx::Type::f32 && wanted == ptx::Type::f64) {
        return std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))));
    }
    return operand.bits;
}

// Whether it is the same in all blocks.
bool is_of_launch(ptx::SpecialRegister special) {
    using enum ptx::SpecialRegister;
    return !(special >= ctaid_x && special <= ctaid_z) && special != smid &&
           !(special >= clusterid_x && special <= clusterid_z) &&
           !(special >= cluster_ctaid_x && special <= cluster_ctaid_z) && special != cluster_ctarank;
}

}  // namespace

llvm::Type* Translator::scalar_type(unsigned bytes) {
    return b_.getIntNTy(bytes == 0 ? 1 : bytes * 8);
}
llvm::Type* Translator::vector_type(unsigned bytes) {
    return llvm::FixedVectorType::get(scalar_type(bytes), warp_lanes);
}
llvm::Type* Translator::register_type(ptx::RegisterIndex reg) {
    const unsigned bytes = register_bytes(function_, reg);
    const Shape& shape = shapes_->of(reg);
    if (shape.is_runs()) return llvm::FixedVectorType::get(scalar_type(bytes), run_count());
    return shape.is_general() ? vector_type(bytes) : scalar_type(bytes);
}

llvm::Value* Translator::splat(llvm::Value* scalar) {
    return b_.CreateVectorSplat(warp_lanes, scalar);
}

llvm::Value* Translator::vector(const Value& value) {
    if (value.shape.is_general()) return value.v;
    llvm::Value* all = value.v;
    if (value.shape.is_runs()) {
        std::vector<int> run_of_lane;
        for (unsigned lane = 0; lane < warp_lanes; lane++)
            run_of_lane.push_back(static_cast<int>(lane / shapes_->run_lanes()));
        all = b_.CreateShuffleVector(all, run_of_lane);
    } else {
        all = splat(all);
    }
    if (value.shape.is_uniform() || value.shape.is_same_in_runs()) return all;
    return b_.CreateAdd(all, offset_vector(value.shape.offsets, all->getType()->getScalarType()));
}

llvm::Constant* Translator::offset_vector(llvm::ArrayRef<std::int64_t> offsets, llvm::Type* type) {
    std::vector<llvm::Constant*> made;
    for (const std::int64_t offset : offsets)
        made.push_back(llvm::ConstantInt::get(type, static_cast<std::uint64_t>(offset), true, true));
    return llvm::ConstantVector::get(made);
}

Value Translator::in_runs(const Value& value) {
    if (!value.shape.is_uniform() && !value.shape.is_pattern()) return value;
    llvm::Value* firsts = b_.CreateVectorSplat(run_count(), value.v);
    if (value.shape.is_pattern()) {
        Offsets own{};
        for (unsigned run = 0; run < run_count(); run++)
            own[run] = value.shape.offsets[run * shapes_->run_lanes()];
        firsts =
            b_.CreateAdd(firsts, offset_vector(llvm::ArrayRef(own.data(), run_count()), value.v->getType()));
    }
    return {value.shape.in_runs(shapes_->run_lanes()), firsts};
}

// The first lane of each run that is on the path; of a run without one, the path's first.
llvm::Value* Translator::lane_of_run(unsigned run) {
    const std::uint32_t own = (run_mask() << (run * shapes_->run_lanes()));
    llvm::Value* lanes = b_.CreateAnd(lanes_, b_.getInt32(own));
    llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, lanes, b_.getFalse());
    return b_.CreateSelect(b_.CreateICmpEQ(lanes, b_.getInt32(0)), first_lane_, first);
}

llvm::Value* Translator::integer(unsigned bytes, std::uint64_t bits) {
    return llvm::ConstantInt::get(scalar_type(bytes), bits, false, true);
}

Value Translator::shaped(llvm::Value* value) {
    return value->getType()->isVectorTy() ? general(value) : uniform(value);
}

Value Translator::read(ptx::RegisterIndex reg) {
    Value value = read_open(reg);
    if (open_nans_->contains(reg)) value.v = canonical(as_real(value.v));
    return value;
}

Translator::Nans Translator::nans_of(const Operand& to) const {
    return to.kind == Operand::Kind::reg && open_nans_->contains(to.reg) ? Nans::any : Nans::exact;
}

Value Translator::read_open(ptx::RegisterIndex reg) {
    return {shapes_->of(reg), b_.CreateLoad(slots_[reg]->getAllocatedType(), slots_[reg])};
}

Value Translator::fit(const Value& value, const Shape& shape) {
    if (value.shape == shape) return value;
    if (shape.is_general()) return general(vector(value));
    if (shape.is_runs()) {
        if (!value.shape.is_general()) return in_runs(value);
        llvm::Value* firsts = llvm::PoisonValue::get(
            llvm::FixedVectorType::get(value.v->getType()->getScalarType(), run_count()));
        for (unsigned run = 0; run < run_count(); run++) {
            llvm::Value* lane = lane_of_run(run);
            llvm::Value* own = b_.CreateExtractElement(
                offset_vector(shape.offsets, value.v->getType()->getScalarType()), lane);
            firsts = b_.CreateInsertElement(firsts, b_.CreateSub(b_.CreateExtractElement(value.v, lane), own),
                                            std::uint64_t{run});
        }
        return {shape, firsts};
    }
    // The lanes of the path agree, or differ by what the shape says: one of them tells.
    llvm::Value* one = b_.CreateExtractElement(vector(value), first_lane_);
    if (!shape.is_pattern()) return {shape, one};
    llvm::Value* own = b_.CreateExtractElement(offset_vector(shape.offsets, one->getType()), first_lane_);
    return {shape, b_.CreateSub(one, own)};
}

void Translator::write(ptx::RegisterIndex reg, Value value) {
    b_.CreateStore(fit(value, shapes_->of(reg)).v, slots_[reg]);
}

llvm::Value* Translator::field(std::size_t offset, llvm::Type* type) {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), warp_, offset));
}

llvm::Value* Translator::invariant(llvm::Value* load) {
    llvm::cast<llvm::LoadInst>(load)->setMetadata(llvm::LLVMContext::MD_invariant_load,
                                                  llvm::MDNode::get(context_, {}));
    return load;
}

llvm::Value* Translator::op_at(std::uint32_t index) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ops_, std::uint64_t{index} * sizeof(Op));
}

llvm::Value* Translator::frame_address(OperandRef ref) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), registers_, offset_of(ref));
}

llvm::Value* Translator::lane_address(llvm::Value* base, unsigned bytes, llvm::Value* lane) {
    return b_.CreateInBoundsGEP(scalar_type(bytes), base, b_.CreateZExt(lane, b_.getInt64Ty()));
}

llvm::Value* Translator::bits_of(llvm::Value* predicate) {
    if (predicate->getType()->isVectorTy()) return b_.CreateBitCast(predicate, b_.getInt32Ty());
    return b_.CreateSExt(predicate, b_.getInt32Ty());
}
llvm::Value* Translator::lanes_of(llvm::Value* bits) {
    return b_.CreateBitCast(bits, vector_type(0));
}

llvm::Value* Translator::guard_lanes(const Instruction& instruction) {
    if (instruction.guard == ptx::no_index) return lanes_;
    llvm::Value* guard = read(instruction.guard).v;
    if (instruction.guard_negated) guard = b_.CreateNot(guard);
    return b_.CreateAnd(bits_of(guard), lanes_);
}

void Translator::load_register(ptx::RegisterIndex reg) {
    if (slots_[reg] == nullptr) return;
    const Shape& shape = shapes_->of(reg);
    const unsigned bytes = register_bytes(function_, reg);
    llvm::Value* place = frame_address(code_.registers[reg]);
    if (bytes == 0) {
        llvm::Value* bits = b_.CreateAlignedLoad(b_.getInt32Ty(), place, llvm::Align(4));
        if (shape.is_general())
            b_.CreateStore(lanes_of(bits), slots_[reg]);
        else
            b_.CreateStore(b_.CreateTrunc(b_.CreateLShr(bits, first_lane_), b_.getInt1Ty()), slots_[reg]);
        return;
    }
    if (shape.is_general()) {
        b_.CreateStore(b_.CreateAlignedLoad(vector_type(bytes), place, llvm::Align(bytes)), slots_[reg]);
        return;
    }
    const auto value_of = [&](llvm::Value* lane) {
        llvm::Value* one =
            b_.CreateAlignedLoad(scalar_type(bytes), lane_address(place, bytes, lane), llvm::Align(bytes));
        if (shape.is_uniform()) return one;
        return b_.CreateSub(one, b_.CreateExtractElement(offset_vector(shape.offsets, one->getType()), lane));
    };
    if (!shape.is_runs()) {
        b_.CreateStore(value_of(first_lane_), slots_[reg]);
        return;
    }
    llvm::Value* firsts = llvm::PoisonValue::get(register_type(reg));
    for (unsigned run = 0; run < run_count(); run++)
        firsts = b_.CreateInsertElement(firsts, value_of(lane_of_run(run)), std::uint64_t{run});
    b_.CreateStore(firsts, slots_[reg]);
}

// Only the path's lanes: the others' values in the slot are those of other paths, or of another register.
void Translator::store_register(ptx::RegisterIndex reg) {
    if (slots_[reg] == nullptr) return;
    const unsigned bytes = register_bytes(function_, reg);
    llvm::Value* place = frame_address(code_.registers[reg]);
    const Value value = read(reg);
    if (bytes == 0) {
        llvm::Value* bits = bits_of(value.v);
        llvm::Value* old = b_.CreateAlignedLoad(b_.getInt32Ty(), place, llvm::Align(4));
        bits = b_.CreateOr(b_.CreateAnd(bits, lanes_), b_.CreateAnd(old, b_.CreateNot(lanes_)));
        b_.CreateAlignedStore(bits, place, llvm::Align(4));
        return;
    }
    llvm::Value* old = b_.CreateAlignedLoad(vector_type(bytes), place, llvm::Align(bytes));
    b_.CreateAlignedStore(b_.CreateSelect(lanes_of(lanes_), vector(value), old), place, llvm::Align(bytes));
}

void Translator::load_registers(const ptx::RegisterSet& registers) {
    std::vector<llvm::AllocaInst*> slots;
    for (const ptx::RegisterIndex reg : registers.list()) {
        if (!room_)
            load_register(reg);
        else if (slots_[reg] != nullptr)
            slots.push_back(slots_[reg]);
    }
    if (!slots.empty()) room_->restore(b_, service(offsetof(Services, restore)), registers_, lanes_, slots);
}

void Translator::store_registers(const ptx::RegisterSet& registers) {
    std::vector<llvm::AllocaInst*> slots;
    for (const ptx::RegisterIndex reg : registers.list()) {
        if (!room_)
            store_register(reg);
        else if (slots_[reg] != nullptr)
            slots.push_back(slots_[reg]);
    }
    if (!slots.empty()) room_->save(b_, service(offsetof(Services, save)), registers_, lanes_, slots);
}

llvm::Value* Translator::service(std::size_t offset) {
    llvm::Value* services = invariant(field(layout_.services, b_.getPtrTy()));
    return invariant(
        b_.CreateLoad(b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), services, offset)));
}

llvm::Value* Translator::resize(llvm::Value* value, unsigned bytes, bool sign) {
    llvm::Type* type = value->getType()->getWithNewType(scalar_type(bytes));
    return sign ? b_.CreateSExtOrTrunc(value, type) : b_.CreateZExtOrTrunc(value, type);
}

std::optional<Value> Translator::predicate(const Operand& operand) {
    if (operand.kind == Operand::Kind::immediate)
        return uniform(b_.getInt1((operand.bits != 0) != operand.negated));
    if (operand.kind != Operand::Kind::reg || slots_[operand.reg] == nullptr ||
        register_bytes(function_, operand.reg) != 0) {
        return std::nullopt;
    }
    Value value = read(operand.reg);
    if (operand.negated) value.v = b_.CreateNot(value.v);
    return value;
}

std::optional<Value> Translator::source(const Operand& operand, unsigned bytes, ptx::Type type, Nans nans) {
    switch (operand.kind) {
        case Operand::Kind::reg: {
            if (slots_[operand.reg] == nullptr || operand.negated) return std::nullopt;
            const unsigned width = register_bytes(function_, operand.reg);
            if (width == 0 || bytes == 0) return std::nullopt;
            const Value value = nans == Nans::any ? read_open(operand.reg) : read(operand.reg);
            if (width == bytes) return value;
            if (value.shape.is_pattern() || value.shape.is_runs()) {
                const Shape shape = shapes_->of(operand, bytes, type);
                if (!shape.is_general()) return Value{shape, resize(value.v, bytes, false)};
                return general(resize(vector(value), bytes, ptx::is_signed(type)));
            }
            return Value{value.shape, resize(value.v, bytes, ptx::is_signed(type))};
        }
        case Operand::Kind::immediate:
            if (bytes == 0) return std::nullopt;
            return uniform(integer(bytes, literal_bits(operand, type)));
        case Operand::Kind::special: {
            if (bytes == 0) return std::nullopt;
            using enum ptx::SpecialRegister;
            if (ptx::info(operand.special).group == ptx::SpecialGroup::clock ||
                operand.special == is_explicit_cluster || operand.special == other)
                return std::nullopt;
            const Shape shape = shapes_->of(operand, 4, ptx::Type::u32);
            // What changes from warp to warp, the special registers may not know yet.
            const bool is_thread =
                operand.special == tid_x || operand.special == tid_y || operand.special == tid_z;
            llvm::Value* base = nullptr;
            auto place_number = static_cast<std::uint64_t>(operand.special);
            if (is_thread) {
                base = field(layout_.threads, b_.getPtrTy());
                place_number -= static_cast<std::uint64_t>(tid_x);
            } else {
                base = invariant(field(layout_.bases + static_cast<unsigned>(Base::specials) * sizeof(void*),
                                       b_.getPtrTy()));
            }
            llvm::Value* place =
                b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, place_number * 4 * warp_lanes);
            Value value{shape, nullptr};
            if (operand.special == warpid) {
                value.v = field(layout_.index, b_.getInt32Ty());
            } else {
                llvm::Type* type = shape.is_general() ? vector_type(4) : b_.getInt32Ty();
                llvm::LoadInst* load = b_.CreateAlignedLoad(type, place, llvm::Align(4));
                value.v = is_thread || is_of_launch(operand.special) ? invariant(load) : load;
            }
            if (bytes == 4) return value;
            if (shape.is_pattern()) return general(resize(vector(value), bytes, false));
            value.v = resize(value.v, bytes, false);
            return value;
        }
        default:
            return std::nullopt;
    }
}

std::uint32_t Translator::end_op(std::uint32_t index) const {
    const std::uint32_t next = index + 1;
    if (code_.join_op[next] != FunctionCode::no_op) return code_.join_op[next];
    if (code_.entry_op[next] != FunctionCode::no_op) return code_.entry_op[next];
    return code_.first_op[next];
}

// The op that accesses memory among those of an instruction; nullptr: there is none, or more than one.
const Op* Translator::memory_op(std::uint32_t index) const {
    const bool guarded = function_.body[index].guard != ptx::no_index;
    const std::uint32_t first = code_.work_op(index) + (guarded ? 1 : 0);
    const std::uint32_t end = end_op(index) - (guarded ? 1 : 0);
    return end > first ? &code_.ops[end - 1] : nullptr;
}

}  // namespace trimtab::emulator::jit
