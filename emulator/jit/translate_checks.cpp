// Where loads and stores go: one range check for all lanes whose addresses have a known shape, or for several
// loads behind one register. Whatever fails it goes to the interpreter.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "emulator/jit/load_order.h"
#include "emulator/jit/translator.h"

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
    const auto finish = [&](std::vector<llvm::Value*> hosts) {
        if (!is_in_runs) {
            access.host = hosts.front();
            return;
        }
        access.run_hosts = std::move(hosts);
        access.is_same_in_runs = access.shape.in_runs(shapes_->run_lanes()).is_same_in_runs();
    };
    const auto member = check_group_of_.find(index);
    if (member == check_group_of_.end() ||
        (check_groups_[member->second].first != index && check_groups_[member->second].hosts.empty())) {
        find_range(access);
        expect(is_good(access, 0, access.total_bytes), access.slow);
        finish(hosts_of(access, is_in_runs));
        return;
    }
    // The group's first finds the place of all, if it can; each for itself otherwise.
    CheckGroup& group = check_groups_[member->second];
    auto* together = llvm::BasicBlock::Create(context_, "together", made_);
    auto* alone = llvm::BasicBlock::Create(context_, "alone", made_);
    auto* ready = llvm::BasicBlock::Create(context_, "ready", made_);
    const bool is_first = group.first == index;
    llvm::Value* good = nullptr;
    if (is_first) {
        find_range(access);
        good = is_good(access, group.low, group.high);
        b_.CreateStore(good, group.is_good);
    } else {
        good = b_.CreateLoad(b_.getInt1Ty(), group.is_good);
    }
    b_.CreateCondBr(good, together, alone, likely_);
    b_.SetInsertPoint(together);
    std::vector<llvm::Value*> common;
    if (is_first) {
        common = hosts_of(access, is_in_runs);
        for (llvm::Value* host : common) {
            llvm::BasicBlock& prologue = made_->getEntryBlock();
            llvm::IRBuilder<> at_start(&prologue, prologue.begin());
            group.hosts.push_back(at_start.CreateAlloca(b_.getPtrTy()));
            b_.CreateStore(host, group.hosts.back());
        }
    } else {
        const std::uint64_t behind = access.op->imm - memory_op(group.first)->imm;
        for (llvm::AllocaInst* host : group.hosts)
            common.push_back(
                b_.CreateConstGEP1_64(b_.getInt8Ty(), b_.CreateLoad(b_.getPtrTy(), host), behind));
    }
    b_.CreateBr(ready);
    b_.SetInsertPoint(alone);
    if (!is_first) find_range(access);
    expect(is_good(access, 0, access.total_bytes), access.slow);
    const std::vector<llvm::Value*> own = hosts_of(access, is_in_runs);
    alone = b_.GetInsertBlock();
    b_.CreateBr(ready);
    b_.SetInsertPoint(ready);
    std::vector<llvm::Value*> hosts;
    for (std::size_t i = 0; i < own.size(); i++) {
        llvm::PHINode* host = b_.CreatePHI(b_.getPtrTy(), 2);
        host->addIncoming(common[i], together);
        host->addIncoming(own[i], alone);
        hosts.push_back(host);
    }
    finish(std::move(hosts));
}

// i1: of every lane, [address + low, address + high) lies in the access' range, and the address is aligned.
llvm::Value* Translator::is_good(const Access& access, std::int64_t low, std::int64_t high) {
    const auto [least, most] = std::ranges::minmax(access.shape.offsets);
    for (const std::int64_t offset : access.shape.offsets) {
        if ((static_cast<std::uint64_t>(offset) & access.alignment) != 0) return b_.getFalse();
    }
    const auto span = static_cast<std::uint64_t>(most - least + high - low);
    if (!access.shape.is_runs()) {
        llvm::Value* good = in_range(access.address, access.first, access.end, least + low, span);
        if (access.alignment == 0) return good;
        llvm::Value* rest = b_.CreateAnd(access.address, b_.getInt64(access.alignment));
        return b_.CreateAnd(good, b_.CreateICmpEQ(rest, b_.getInt64(0)));
    }
    llvm::Value* size = b_.CreateSub(access.end, access.first);
    llvm::Value* limit = b_.CreateSub(size, b_.getInt64(span));
    llvm::Value* before = b_.CreateSub(access.first, b_.getInt64(static_cast<std::uint64_t>(least + low)));
    llvm::Value* at = b_.CreateSub(access.address, splat_like(access.address, before));
    llvm::Value* good = b_.CreateICmpULE(at, splat_like(access.address, limit));
    if (access.alignment != 0) {
        llvm::Value* rest = b_.CreateAnd(access.address, constant_like(access.address, access.alignment));
        good = b_.CreateAnd(good, b_.CreateICmpEQ(rest, constant_like(rest, 0)));
    }
    return b_.CreateAnd(b_.CreateAndReduce(good), b_.CreateICmpUGE(size, b_.getInt64(span)));
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

// Loads of one basic block behind one register: their places are checked by the first of them, if there is
// one range for all.
bool Translator::may_share_check(std::uint32_t index) const {
    const Instruction& instruction = function_.body[index];
    const ptx::Space space = instruction.modifiers.space;
    if (!is_load(instruction) || instruction.guard != ptx::no_index || is_ordered(instruction) ||
        (space != ptx::Space::global && space != ptx::Space::shared)) {
        return false;
    }
    const Operand& place = instruction.operands[1];
    if (place.kind != Operand::Kind::address || place.reg == ptx::no_index || slots_[place.reg] == nullptr)
        return false;
    const Op* op = memory_op(index);
    const Shape& shape = shapes_->of(place.reg);
    return op != nullptr && op->info != nullptr && !shape.is_general() &&
           static_cast<std::int64_t>(op->imm) < (1 << 30) && static_cast<std::int64_t>(op->imm) > -(1 << 30);
}

void Translator::find_check_groups() {
    for (const ptx::BasicBlock& block : flow_.blocks) {
        for (std::uint32_t i = block.first; i < block.last; i++) {
            if (check_group_of_.contains(i) || !may_share_check(i)) continue;
            const Instruction& first = function_.body[i];
            const ptx::RegisterIndex reg = first.operands[1].reg;
            CheckGroup group;
            group.first = i;
            std::vector<std::uint32_t> members;
            std::vector<std::int64_t> places;
            const auto first_at = static_cast<std::int64_t>(memory_op(i)->imm);
            for (std::uint32_t j = i; j < block.last; j++) {
                const Instruction& other = function_.body[j];
                if (may_share_check(j) && !check_group_of_.contains(j) && other.operands[1].reg == reg &&
                    other.modifiers.space == first.modifiers.space && other.type == first.type &&
                    other.operands[0].elements.size() == first.operands[0].elements.size()) {
                    const auto& info = *static_cast<const MemoryInfo*>(memory_op(j)->info);
                    const std::int64_t at = static_cast<std::int64_t>(memory_op(j)->imm) - first_at;
                    if (at % info.alignment_bytes == 0) {
                        members.push_back(j);
                        places.push_back(at);
                        group.low = std::min(group.low, at);
                        group.high = std::max<std::int64_t>(group.high, at + info.total_bytes);
                    }
                }
                if (!is_passed(other) || writes_to(other, reg)) break;
            }
            if (members.size() < 2) continue;
            group.is_good = b_.CreateAlloca(b_.getInt1Ty());
            b_.CreateStore(b_.getFalse(), group.is_good);
            if (is_counted_) {
                constexpr std::int64_t sector_bytes = std::int64_t{1} << SectorSet::sector_shift;
                group.is_inserted = b_.CreateAlloca(b_.getInt1Ty());
                std::ranges::sort(places);
                const auto gap = std::ranges::adjacent_find(
                    places, [](std::int64_t a, std::int64_t b) { return b - a > sector_bytes; });
                group.is_dense = gap == places.end();
            }
            for (const std::uint32_t member : members) check_group_of_[member] = check_groups_.size();
            check_groups_.push_back(group);
        }
    }
}

}  // namespace trimtab::emulator::jit
