// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of one basic block from neighbouring places behind one register, as unrolled loops have them: where
// lanes lie far apart, each lane's are read at once.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "emulation/emulator/jit/load_order.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

constexpr unsigned group_bytes = 16;

}  // namespace

bool Translator::may_be_grouped(std::uint32_t index) const {
    const Instruction& instruction = function_.body[index];
    if (!is_load(instruction) || instruction.guard != ptx::no_index || !has_gather_ ||
        instruction.modifiers.space != ptx::Space::global ||
        instruction.modifiers.semantics != ptx::MemorySemantics::weak ||
        instruction.modifiers.cache == ptx::CacheOp::cv ||
        instruction.operands[0].kind != Operand::Kind::reg ||
        slots_[instruction.operands[0].reg] == nullptr) {
        return false;
    }
    const Operand& place = instruction.operands[1];
    const Op* op = memory_op(index);
    return place.kind == Operand::Kind::address && place.reg != ptx::no_index &&
           slots_[place.reg] != nullptr && register_bytes(function_, place.reg) == 8 &&
           shapes_->of(place.reg).is_general() && !hints_->of(place.reg) && op != nullptr &&
           op->info != nullptr &&
           (ptx::size_bytes(instruction.type) == 4 || ptx::size_bytes(instruction.type) == 8);
}

void Translator::find_groups() {
    for (const ptx::BasicBlock& block : flow_.blocks) {
        for (std::uint32_t i = block.first; i < block.last; i++) {
            if (group_of_.contains(i) || !may_be_grouped(i)) continue;
            const Instruction& first = function_.body[i];
            const Operand& place = first.operands[1];
            const auto bytes = static_cast<std::int64_t>(ptx::size_bytes(first.type));
            std::map<std::int64_t, std::uint32_t> at{{place.offset, i}};
            for (std::uint32_t j = i; j + 1 < block.last; j++) {
                if (!is_passed(function_.body[j]) || writes_to(function_.body[j], place.reg)) break;
                const Instruction& other = function_.body[j + 1];
                if (!may_be_grouped(j + 1) || group_of_.contains(j + 1) || other.type != first.type ||
                    other.operands[1].reg != place.reg)
                    continue;
                at.try_emplace(other.operands[1].offset, j + 1);
            }
            // As many behind one another as fit, the first of them among them.
            for (std::int64_t count = group_bytes / bytes; count >= 2; count /= 2) {
                std::int64_t low = place.offset - (count - 1) * bytes;
                const auto all_there = [&] {
                    for (std::int64_t k = 0; k < count; k++) {
                        if (!at.contains(low + k * bytes)) return false;
                    }
                    return true;
                };
                while (low <= place.offset && !all_there()) low += bytes;
                if (low > place.offset) continue;
                LoadGroup& group = groups_.emplace_back();
                group.first = i;
                group.below = low - place.offset;
                group.is_valid = b_.CreateAlloca(b_.getInt1Ty());
                b_.CreateStore(b_.getFalse(), group.is_valid);
                for (std::int64_t k = 0; k < count; k++) {
                    group_of_[at[low + k * bytes]] = {groups_.size() - 1, static_cast<std::size_t>(k)};
                    group.values.push_back(b_.CreateAlloca(vector_type(static_cast<unsigned>(bytes))));
                }
                break;
            }
        }
    }
}

void Translator::write_loaded(std::uint32_t index, llvm::Value* value) {
    const Instruction& instruction = function_.body[index];
    const unsigned bytes = register_bytes(function_, instruction.operands[0].reg);
    write_destination(instruction, instruction.operands[0],
                      general(resize(value, bytes, ptx::is_signed(instruction.type))));
}

void Translator::load_group(const Access& access, std::uint32_t index, llvm::BasicBlock* done) {
    const auto own = group_of_.find(index);
    if (own == group_of_.end() || groups_[own->second.first].first != index) return;
    LoadGroup& group = groups_[own->second.first];
    const auto count = static_cast<unsigned>(group.values.size());
    auto* together = llvm::BasicBlock::Create(context_, "together", made_);
    auto* alone = llvm::BasicBlock::Create(context_, "alone", made_);
    llvm::Value* low = b_.CreateAdd(access.addresses,
                                    constant_like(access.addresses, static_cast<std::uint64_t>(group.below)));
    b_.CreateCondBr(all_in_range(low, access.first, access.end, std::uint64_t{count} * access.element_bytes,
                                 access.alignment, access.lanes),
                    together, alone, likely_);
    b_.SetInsertPoint(together);
    count_access(access, index);
    low = b_.CreateAdd(low, splat(access.delta));
    low = b_.CreateSelect(lanes_of(access.lanes), low, splat(b_.CreateExtractElement(low, first_lane_)));
    auto* part = llvm::FixedVectorType::get(scalar_type(access.element_bytes), count);
    std::vector<llvm::Value*> parts;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        llvm::Value* host =
            b_.CreateIntToPtr(b_.CreateExtractElement(low, std::uint64_t{lane}), b_.getPtrTy());
        parts.push_back(b_.CreateAlignedLoad(part, host, llvm::Align(access.element_bytes)));
    }
    llvm::Value* all = joined(std::move(parts));
    for (unsigned k = 0; k < count; k++) {
        std::vector<int> own_elements;
        for (unsigned lane = 0; lane < warp_lanes; lane++)
            own_elements.push_back(static_cast<int>(lane * count + k));
        b_.CreateStore(b_.CreateShuffleVector(all, own_elements), group.values[k]);
    }
    b_.CreateStore(b_.getTrue(), group.is_valid);
    llvm::AllocaInst* value = group.values[own->second.second];
    write_loaded(index, b_.CreateLoad(value->getAllocatedType(), value));
    b_.CreateBr(done);
    b_.SetInsertPoint(alone);
    b_.CreateStore(b_.getFalse(), group.is_valid);
}

void Translator::take_from_group(std::uint32_t index, llvm::BasicBlock* done) {
    const auto own = group_of_.find(index);
    if (own == group_of_.end() || groups_[own->second.first].first == index) return;
    const LoadGroup& group = groups_[own->second.first];
    auto* together = llvm::BasicBlock::Create(context_, "together", made_);
    auto* alone = llvm::BasicBlock::Create(context_, "alone", made_);
    b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), group.is_valid), together, alone, likely_);
    b_.SetInsertPoint(together);
    if (is_counted_) {
        Access access;
        access.shape = Shape::general();
        access.lanes = lanes_;
        access.op = memory_op(index);
        access.total_bytes = static_cast<const MemoryInfo*>(access.op->info)->total_bytes;
        llvm::Value* base = read(function_.body[index].operands[1].reg).v;
        access.address = b_.CreateAdd(base, constant_like(base, memory_op(index)->imm));
        count_access(access, index);
    }
    llvm::AllocaInst* value = group.values[own->second.second];
    write_loaded(index, b_.CreateLoad(value->getAllocatedType(), value));
    b_.CreateBr(done);
    b_.SetInsertPoint(alone);
}

}  // namespace trimtab::emulator::jit
