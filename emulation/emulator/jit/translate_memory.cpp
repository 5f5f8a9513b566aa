// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores, once their places are checked. What fails the check goes to the interpreter, which finds
// the range, or the fault.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <numeric>

#include "emulation/emulator/jit/load_order.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

std::vector<const ptx::Operand*> elements_of(const ptx::Operand& operand) {
    std::vector<const ptx::Operand*> all;
    if (operand.kind != ptx::Operand::Kind::vector) return {&operand};
    for (const ptx::Operand& element : operand.elements) all.push_back(&element);
    return all;
}

}  // namespace

// ld.param of a kernel: the launch has its value, repeated for each lane.
bool Translator::translate_parameter(const Instruction& instruction, std::uint32_t index) {
    const Operand& place = instruction.operands[1];
    if (instruction.modifiers.space != ptx::Space::param || !is_kernel_ || place.reg != ptx::no_index ||
        function_.parameter(place.text) == nullptr || instruction.guard != ptx::no_index) {
        return false;
    }
    const auto elements = elements_of(instruction.operands[0]);
    const Op* op = &code_.ops[code_.work_op(index)];
    for (const Operand* element : elements) {
        if (element->kind != Operand::Kind::reg) continue;
        if (slots_[element->reg] == nullptr || op->a >> base_shift != static_cast<unsigned>(Base::parameters))
            return false;
    }
    llvm::Value* base = invariant(
        field(layout_.bases + static_cast<unsigned>(Base::parameters) * sizeof(void*), b_.getPtrTy()));
    for (const Operand* element : elements) {
        if (element->kind != Operand::Kind::reg) continue;
        const unsigned bytes = register_bytes(function_, element->reg);
        llvm::Value* from = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset_of(op->a));
        llvm::Value* value = invariant(b_.CreateAlignedLoad(scalar_type(bytes), from, llvm::Align(bytes)));
        write(element->reg, uniform(value));
        op++;
    }
    return true;
}

std::vector<Translator::Run> Translator::runs_of(const Access& access) {
    const Offsets& offsets = access.shape.offsets;
    std::vector<Run> runs;
    // The longest runs of a power of two lanes that all patterns of thread indices are made of.
    for (unsigned count = warp_lanes; count >= 1; count /= 2) {
        runs.clear();
        for (unsigned first = 0; first < warp_lanes; first += count) {
            bool same = true, consecutive = true;
            for (unsigned lane = first; lane < first + count; lane++) {
                same = same && offsets[lane] == offsets[first];
                consecutive = consecutive && offsets[lane] == offsets[first] + std::int64_t{lane - first} *
                                                                                   access.element_bytes;
            }
            if (!same && !consecutive) break;
            runs.push_back({first, count, !same || count == 1});
        }
        if (runs.size() * count == warp_lanes) return runs;
    }
    return runs;
}

llvm::Value* Translator::load_element(const Access& access, unsigned element) {
    if (!access.run_hosts.empty()) return load_runs(access, element);
    const std::uint64_t within = std::uint64_t{element} * access.element_bytes;
    llvm::Type* type = scalar_type(access.element_bytes);
    const auto at = [&](std::int64_t offset) {
        return b_.CreateConstGEP1_64(b_.getInt8Ty(), access.host,
                                     static_cast<std::uint64_t>(offset) + within);
    };
    const llvm::Align alignment(access.element_bytes);
    if (access.shape.is_general()) {
        return b_.CreateMaskedGather(vector_type(access.element_bytes), at(0), alignment,
                                     lanes_of(access.lanes));
    }
    if (access.shape.is_uniform()) return b_.CreateAlignedLoad(type, at(0), alignment);
    llvm::Value* all = llvm::PoisonValue::get(vector_type(access.element_bytes));
    const std::vector<Run> runs = runs_of(access);
    std::vector<llvm::Value*> parts;
    for (const Run& run : runs) {
        const std::int64_t offset = access.shape.offsets[run.first];
        auto* part_type = llvm::FixedVectorType::get(type, run.count);
        if (run.count == 1) {
            all = b_.CreateInsertElement(all, b_.CreateAlignedLoad(type, at(offset), alignment),
                                         std::uint64_t{run.first});
        } else if (run.consecutive) {
            parts.push_back(b_.CreateAlignedLoad(part_type, at(offset), alignment));
        } else {
            parts.push_back(
                b_.CreateVectorSplat(run.count, b_.CreateAlignedLoad(type, at(offset), alignment)));
        }
    }
    if (parts.empty()) return all;
    return joined(std::move(parts));
}

void Translator::store_element(const Access& access, unsigned element, const Value& value) {
    if (!access.run_hosts.empty()) {
        store_runs(access, value);
        return;
    }
    const std::uint64_t within = std::uint64_t{element} * access.element_bytes;
    const llvm::Align alignment(access.element_bytes);
    llvm::Value* place = b_.CreateConstGEP1_64(b_.getInt8Ty(), access.host, within);
    if (access.shape.is_uniform()) {  // one of the lanes wins: the last
        llvm::Value* one = value.v;
        if (!value.is_scalar()) {
            llvm::Value* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, access.lanes, b_.getTrue());
            one = b_.CreateExtractElement(vector(value), b_.CreateSub(b_.getInt32(31), zeros));
        }
        b_.CreateAlignedStore(resize(one, access.element_bytes, false), place, alignment);
        return;
    }
    llvm::Value* all = resize(vector(value), access.element_bytes, false);
    if (access.shape.is_general()) {
        b_.CreateMaskedScatter(all, place, alignment, lanes_of(access.lanes));
        return;
    }
    store_lanes(access, {all}, {place});
}

// Vectors that make up all lanes, one behind the other, to where each begins. Processors take longer over
// masks.
void Translator::store_lanes(const Access& access, const std::vector<llvm::Value*>& parts,
                             const std::vector<llvm::Value*>& hosts) {
    const llvm::Align alignment(access.element_bytes);
    auto* whole = llvm::BasicBlock::Create(context_, "all_lanes", made_);
    auto* some = llvm::BasicBlock::Create(context_, "some_lanes", made_);
    auto* after = llvm::BasicBlock::Create(context_, "stored", made_);
    b_.CreateCondBr(b_.CreateICmpEQ(access.lanes, b_.getInt32(all_lanes)), whole, some, likely_);
    b_.SetInsertPoint(whole);
    for (std::size_t i = 0; i < parts.size(); i++) b_.CreateAlignedStore(parts[i], hosts[i], alignment);
    b_.CreateBr(after);
    b_.SetInsertPoint(some);
    llvm::Value* lanes = lanes_of(access.lanes);
    const std::size_t count = warp_lanes / parts.size();
    for (std::size_t i = 0; i < parts.size(); i++) {
        std::vector<int> own(count);
        std::iota(own.begin(), own.end(), static_cast<int>(i * count));
        b_.CreateMaskedStore(parts[i], hosts[i], alignment, b_.CreateShuffleVector(lanes, own));
    }
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
}

void Translator::finish_slow(const Access& access, std::uint32_t index, llvm::BasicBlock* done,
                             const std::vector<std::pair<ptx::RegisterIndex, Value>>& loaded) {
    // The quick way's results, and on to what follows.
    for (const auto& [reg, value] : loaded) {
        ptx::Operand to;
        to.kind = Operand::Kind::reg;
        to.reg = reg;
        write_destination(function_.body[index], to, value);
    }
    b_.CreateBr(done);
    if (access.slow != nullptr) {
        b_.SetInsertPoint(access.slow);
        run_handlers(index);
        b_.CreateBr(done);
    }
    b_.SetInsertPoint(done);
}

bool Translator::translate_load(const Instruction& instruction, std::uint32_t index) {
    const auto elements = elements_of(instruction.operands[0]);
    if (elements.size() > 1 && is_ordered(instruction)) return false;  // seen at once: the interpreter's
    for (const Operand* element : elements) {
        if (element->kind == Operand::Kind::reg && slots_[element->reg] == nullptr) return false;
    }
    auto* done = llvm::BasicBlock::Create(context_, "loaded");
    take_from_group(index, done);
    auto access = resolve(instruction, index, instruction.operands[1], done);
    if (!access) {
        delete done;
        return false;
    }
    done->insertInto(made_);
    if (access->shape.is_general()) {
        if (llvm::BasicBlock* otherwise = check_runs(*access)) {
            count_access(*access, index);
            for (unsigned i = 0; i < elements.size(); i++) {
                if (elements[i]->kind != Operand::Kind::reg) continue;
                const unsigned bytes = register_bytes(function_, elements[i]->reg);
                llvm::Value* value = resize(load_runs(*access, i), bytes, ptx::is_signed(instruction.type));
                write_destination(instruction, *elements[i], general(value));
            }
            b_.CreateBr(done);
            b_.SetInsertPoint(otherwise);
            access->run_hosts.clear();
        }
        load_group(*access, index, done);
        check_each(*access);
    }
    prefetch_for_neighbour(*access, index);
    count_access(*access, index);
    std::vector<std::pair<ptx::RegisterIndex, Value>> loaded;
    for (unsigned i = 0; i < elements.size(); i++) {
        if (elements[i]->kind != Operand::Kind::reg) continue;
        const unsigned bytes = register_bytes(function_, elements[i]->reg);
        llvm::Value* value = resize(load_element(*access, i), bytes, ptx::is_signed(instruction.type));
        loaded.emplace_back(elements[i]->reg, shaped(value));
    }
    finish_slow(*access, index, done, loaded);
    return true;
}

bool Translator::translate_store(const Instruction& instruction, std::uint32_t index) {
    const auto elements = elements_of(instruction.operands[1]);
    if (instruction.modifiers.space == ptx::Space::param) return false;
    if (elements.size() > 1 && is_ordered(instruction)) return false;
    std::vector<Value> values;
    for (const Operand* element : elements) {
        unsigned bytes = ptx::size_bytes(instruction.type);
        if (element->kind == Operand::Kind::reg) bytes = register_bytes(function_, element->reg);
        const auto value = source(*element, bytes, instruction.type);
        if (!value || bytes < ptx::size_bytes(instruction.type)) return false;
        values.push_back(*value);
    }
    // Consecutive lanes, or one place, or runs of such: what lies otherwise goes lane by lane.
    const Shape shape = instruction.operands[0].reg == ptx::no_index
                            ? Shape::uniform()
                            : shapes_->of(instruction.operands[0].reg);
    if (shape.is_pattern()) {
        if (elements.size() != 1) return false;
        if (!lanes_in_order(shape, warp_lanes, ptx::size_bytes(instruction.type)) &&
            !lanes_in_order(shape, shapes_->run_lanes(), ptx::size_bytes(instruction.type)))
            return false;
    }
    auto* done = llvm::BasicBlock::Create(context_, "stored");
    auto access = resolve(instruction, index, instruction.operands[0], done);
    if (!access) {
        delete done;
        return false;
    }
    done->insertInto(made_);
    if (access->shape.is_general()) {
        if (llvm::BasicBlock* otherwise = values.size() == 1 ? check_runs(*access) : nullptr) {
            count_access(*access, index);
            store_runs(*access, values.front());
            b_.CreateBr(done);
            b_.SetInsertPoint(otherwise);
            access->run_hosts.clear();
        }
        check_each(*access);
    }
    prefetch_for_neighbour(*access, index);
    count_access(*access, index);
    for (unsigned i = 0; i < values.size(); i++) store_element(*access, i, values[i]);
    finish_slow(*access, index, done, {});
    return true;
}

}  // namespace trimtab::emulator::jit
