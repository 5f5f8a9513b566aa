// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where loads and stores go: one range check for all lanes whose addresses have a known shape, or for several
// loads behind one register. Whatever fails it goes to the interpreter.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "emulation/emulator/jit/load_order.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {

// i1: [address + below, address + below + bytes) lies in [first, end).
llvm::Value* Translator::in_range(llvm::Value* address, llvm::Value* first, llvm::Value* end,
                                  std::int64_t below, std::uint64_t bytes) {
    llvm::Value* start = b_.CreateAdd(address, b_.getInt64(static_cast<std::uint64_t>(below)));
    llvm::Value* at = b_.CreateSub(start, first);
    llvm::Value* size = b_.CreateSub(end, first);
    llvm::Value* starts_inside = b_.CreateICmpULT(at, size);
    llvm::Value* fits = b_.CreateICmpULE(b_.getInt64(bytes), b_.CreateSub(size, at));
    return b_.CreateAnd(starts_inside, fits);
}

// i1: of every lane in `lanes`, [address, address + bytes) lies in [first, end) and is aligned.
llvm::Value* Translator::all_in_range(llvm::Value* addresses, llvm::Value* first, llvm::Value* end,
                                      std::uint64_t bytes, std::uint64_t alignment, llvm::Value* lanes) {
    llvm::Value* size = b_.CreateSub(end, first);
    llvm::Value* limit = b_.CreateSub(size, b_.getInt64(bytes));
    llvm::Value* good = b_.CreateICmpULE(b_.CreateSub(addresses, splat(first)), splat(limit));
    if (alignment != 0) {
        llvm::Value* rest = b_.CreateAnd(addresses, constant_like(addresses, alignment));
        good = b_.CreateAnd(good, b_.CreateICmpEQ(rest, constant_like(addresses, 0)));
    }
    llvm::Value* bits = b_.CreateOr(bits_of(good), b_.CreateNot(lanes));
    return b_.CreateAnd(b_.CreateICmpEQ(bits, b_.getInt32(all_lanes)),
                        b_.CreateICmpUGE(size, b_.getInt64(bytes)));
}

std::optional<Translator::Access> Translator::resolve(const Instruction& instruction, std::uint32_t index,
                                                      const Operand& place, llvm::BasicBlock* done) {
    const ptx::Space space = instruction.modifiers.space;
    const bool shared = space == ptx::Space::shared;
    if (!shared && space != ptx::Space::global && space != ptx::Space::constant &&
        space != ptx::Space::generic) {
        return std::nullopt;
    }
    const Op* op = memory_op(index);
    if (op == nullptr || op->info == nullptr || is_ordered(instruction) ||
        place.kind != Operand::Kind::address) {
        return std::nullopt;
    }
    const MemoryInfo& info = *static_cast<const MemoryInfo*>(op->info);
    Access access;
    access.element_bytes = info.element_bytes;
    access.count = info.element_count;
    access.total_bytes = info.total_bytes;
    Value base;
    if (place.reg != ptx::no_index) {
        if (slots_[place.reg] == nullptr) return std::nullopt;
        base = read(place.reg);
        // A narrow register's pattern may wrap around where the address does not.
        if (register_bytes(function_, place.reg) == 4) {
            if (base.shape.is_pattern() && !shared) return std::nullopt;
            if (base.shape.is_runs() && !shared) base = general(vector(base));
            base.v = resize(base.v, 8, false);
        }
    } else if (op->a >> base_shift == static_cast<unsigned>(Base::constants)) {
        llvm::Value* constants =
            field(layout_.bases + static_cast<unsigned>(Base::constants) * sizeof(void*), b_.getPtrTy());
        base = uniform(b_.CreateAlignedLoad(
            b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), constants, offset_of(op->a)),
            llvm::Align(8)));
    } else {
        return std::nullopt;
    }
    const bool is_store_in_runs = base.shape.is_pattern() && instruction.opcode == ptx::Opcode::st &&
                                  !lanes_in_order(base.shape, warp_lanes, access.total_bytes);
    if (base.shape.is_runs() &&
        (access.count != 1 || !lanes_in_order(base.shape, shapes_->run_lanes(), access.element_bytes)))
        base = general(vector(base));
    // Without gathers in the instruction set, the interpreter's loops are as good as any.
    if (base.shape.is_general() && (!has_gather_ || access.element_bytes < 4)) return std::nullopt;
    access.shape = base.shape;
    access.lanes = guard_lanes(instruction);
    access.slow = llvm::BasicBlock::Create(context_, "slow", made_);
    if (instruction.guard != ptx::no_index) {
        auto* some = llvm::BasicBlock::Create(context_, "some", made_);
        b_.CreateCondBr(b_.CreateICmpEQ(access.lanes, b_.getInt32(0)), done, some);
        b_.SetInsertPoint(some);
    }
    llvm::Value* address = b_.CreateAdd(base.v, constant_like(base.v, op->imm));
    access.address = address;
    access.op = op;
    access.alignment = info.alignment_bytes - 1u;
    if (base.shape.is_general()) {
        find_range(access);
        access.addresses = address;
        access.hint = hints_->of(place.reg);
        return access;
    }
    check(access, index, is_store_in_runs);
    return access;
}

// The range of addresses that is known to be good.
void Translator::find_range(Access& access) {
    if (static_cast<const MemoryInfo*>(access.op->info)->space == ptx::Space::shared) {
        access.first = b_.getInt64(0);
        access.end = field(layout_.shared_bytes, b_.getInt64Ty());
        access.delta = field(layout_.shared, b_.getInt64Ty());
        return;
    }
    llvm::Value* ranges = field(layout_.ranges, b_.getPtrTy());
    const std::uint64_t at = std::uint64_t{access.op->index} * sizeof(CachedRange);
    const auto word = [&](std::size_t offset) {
        return b_.CreateLoad(b_.getInt64Ty(),
                             b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ranges, at + offset));
    };
    access.first = word(offsetof(CachedRange, first));
    access.end = word(offsetof(CachedRange, end));
    access.delta = word(offsetof(CachedRange, delta));
}

// Where the lanes' memory is: of each run's first lane, or of lane 0.
std::vector<llvm::Value*> Translator::hosts_of(const Access& access, bool is_in_runs) {
    llvm::Value* places = b_.CreateAdd(access.address, splat_like(access.address, access.delta));
    if (!is_in_runs) return {b_.CreateIntToPtr(places, b_.getPtrTy())};
    std::vector<llvm::Value*> hosts;
    places = in_runs({access.shape, places}).v;
    for (unsigned run = 0; run < run_count(); run++)
        hosts.push_back(
            b_.CreateIntToPtr(b_.CreateExtractElement(places, std::uint64_t{run}), b_.getPtrTy()));
    return hosts;
}

// Goes on with the access' hosts where all lanes are good; else at access.slow.
void Translator::check(Access& access, std::uint32_t index, bool is_store_in_runs) {
    const bool is_in_runs = access.shape.is_runs() || is_store_in_runs;
    const auto row = row_of_.find(index);
    std::vector<llvm::Value*> hosts;
    if (is_checked_ && row != row_of_.end()) {
        for (llvm::Value* host : rows_[row->second].hosts)
            hosts.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), host, access.op->imm));
        access.slow->eraseFromParent();
        access.slow = nullptr;
    } else {
        find_range(access);
        expect(is_good(access, 0, access.total_bytes), access.slow);
        hosts = hosts_of(access, is_in_runs);
    }
    if (!is_in_runs) {
        access.host = hosts.front();
        return;
    }
    access.run_hosts = std::move(hosts);
    access.is_same_in_runs = access.shape.in_runs(shapes_->run_lanes()).is_same_in_runs();
}

// i1: of every lane, [address + low, address + high) lies in the access' range, and the address is aligned.
// `more`: bytes that follow besides.
llvm::Value* Translator::is_good(const Access& access, std::int64_t low, std::int64_t high,
                                 llvm::Value* more) {
    const auto [least, most] = std::ranges::minmax(access.shape.offsets);
    for (const std::int64_t offset : access.shape.offsets) {
        if ((static_cast<std::uint64_t>(offset) & access.alignment) != 0) return b_.getFalse();
    }
    // How far into the range it may begin: nowhere, where the range is too small.
    const auto span = static_cast<std::uint64_t>(most - least + high - low);
    const auto less = [this](llvm::Value* a, llvm::Value* b) {
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, a, b);
    };
    llvm::Value* limit = less(b_.CreateSub(access.end, access.first), b_.getInt64(span - 1));
    if (more != nullptr) limit = less(limit, more);
    llvm::Value* before = b_.CreateSub(access.first, b_.getInt64(static_cast<std::uint64_t>(least + low)));
    llvm::Value* at = b_.CreateSub(access.address, splat_like(access.address, before));
    llvm::Value* good = b_.CreateICmpULT(at, splat_like(access.address, limit));
    if (access.alignment != 0) {
        llvm::Value* rest = b_.CreateAnd(access.address, constant_like(access.address, access.alignment));
        good = b_.CreateAnd(good, b_.CreateICmpEQ(rest, constant_like(rest, 0)));
    }
    return good->getType()->isVectorTy() ? b_.CreateAndReduce(good) : good;
}

// A scalar as what `like` is.
llvm::Value* Translator::splat_like(llvm::Value* like, llvm::Value* scalar) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
    return type == nullptr ? scalar : b_.CreateVectorSplat(type->getNumElements(), scalar);
}

bool Translator::lanes_in_order(const Shape& shape, unsigned run_lanes, unsigned bytes) {
    bool same = true, consecutive = true;
    for (unsigned lane = 0; lane < warp_lanes; lane++) {
        const std::int64_t behind =
            shape.offsets[lane] - (shape.is_runs() ? 0 : shape.offsets[lane / run_lanes * run_lanes]);
        same = same && behind == 0;
        consecutive = consecutive && behind == std::int64_t{lane % run_lanes} * bytes;
    }
    return same || consecutive;
}

}  // namespace trimtab::emulator::jit
