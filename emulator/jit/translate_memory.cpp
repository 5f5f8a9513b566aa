// Loads and stores whose addresses have a known shape: one range check for all lanes. Whatever fails it goes
// to the interpreter, which finds the range, or the fault.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

constexpr std::uint32_t offset_of(OperandRef ref) {
    return ref & ((1u << base_shift) - 1);
}

bool is_ordered(const ptx::Instruction& instruction) {
    return instruction.modifiers.semantics != ptx::MemorySemantics::weak ||
           instruction.modifiers.cache == ptx::CacheOp::cv;
}

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
    const auto [low, high] = std::ranges::minmax(base.shape.offsets);
    const std::uint64_t span = static_cast<std::uint64_t>(high - low) + access.total_bytes;
    llvm::Value* first = b_.getInt64(0);
    llvm::Value* end = nullptr;
    llvm::Value* delta = nullptr;
    if (shared) {
        end = field(layout_.shared_bytes, b_.getInt64Ty());
        delta = field(layout_.shared, b_.getInt64Ty());
    } else {
        llvm::Value* ranges = field(layout_.ranges, b_.getPtrTy());
        const std::uint64_t at = std::uint64_t{op->index} * sizeof(CachedRange);
        const auto word = [&](std::size_t offset) {
            return b_.CreateLoad(b_.getInt64Ty(),
                                 b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ranges, at + offset));
        };
        first = word(offsetof(CachedRange, first));
        end = word(offsetof(CachedRange, end));
        delta = word(offsetof(CachedRange, delta));
    }
    access.address = address;
    const std::uint64_t alignment = info.alignment_bytes - 1u;
    if (base.shape.is_general()) {
        access.addresses = address;
        access.first = first;
        access.end = end;
        access.delta = delta;
        access.alignment = alignment;
        access.hint = hints_->of(place.reg);
        return access;
    }
    llvm::Value* good = in_range(address, first, end, low, span);
    bool offsets_aligned = true;
    for (const std::int64_t offset : base.shape.offsets)
        offsets_aligned = offsets_aligned && (static_cast<std::uint64_t>(offset) & alignment) == 0;
    if (!offsets_aligned) good = b_.getFalse();
    if (alignment != 0) {
        llvm::Value* rest = b_.CreateAnd(address, b_.getInt64(alignment));
        good = b_.CreateAnd(good, b_.CreateICmpEQ(rest, b_.getInt64(0)));
    }
    expect(good, access.slow);
    access.host = b_.CreateIntToPtr(b_.CreateAdd(address, delta), b_.getPtrTy());
    return access;
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
    b_.CreateMaskedStore(all, place, alignment, lanes_of(access.lanes));
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
    b_.SetInsertPoint(access.slow);
    run_handlers(index);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
}

bool Translator::translate_load(const Instruction& instruction, std::uint32_t index) {
    const auto elements = elements_of(instruction.operands[0]);
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
            count_access(*access, index, true);
            for (unsigned i = 0; i < elements.size(); i++) {
                if (elements[i]->kind != Operand::Kind::reg) continue;
                const unsigned bytes = register_bytes(function_, elements[i]->reg);
                llvm::Value* value = resize(load_runs(*access, i), bytes, ptx::is_signed(instruction.type));
                write_destination(instruction, *elements[i], general(value));
            }
            b_.CreateBr(done);
            b_.SetInsertPoint(otherwise);
        }
        load_group(*access, index, done);
        check_each(*access);
    }
    count_access(*access, index, false);
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
    std::vector<Value> values;
    for (const Operand* element : elements) {
        unsigned bytes = ptx::size_bytes(instruction.type);
        if (element->kind == Operand::Kind::reg) bytes = register_bytes(function_, element->reg);
        const auto value = source(*element, bytes, instruction.type);
        if (!value || bytes < ptx::size_bytes(instruction.type)) return false;
        values.push_back(*value);
    }
    // Consecutive lanes, or one place: what lies otherwise goes lane by lane.
    const Shape shape = instruction.operands[0].reg == ptx::no_index
                            ? Shape::uniform()
                            : shapes_->of(instruction.operands[0].reg);
    if (shape.is_pattern()) {
        Offsets consecutive{};
        for (unsigned lane = 0; lane < warp_lanes; lane++)
            consecutive[lane] = std::int64_t{lane} * ptx::size_bytes(instruction.type);
        if (shape.offsets != consecutive || elements.size() != 1) return false;
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
            count_access(*access, index, true);
            store_runs(*access, values.front());
            b_.CreateBr(done);
            b_.SetInsertPoint(otherwise);
        }
        check_each(*access);
    }
    count_access(*access, index, false);
    for (unsigned i = 0; i < values.size(); i++) store_element(*access, i, values[i]);
    finish_slow(*access, index, done, {});
    return true;
}

}  // namespace trimtab::emulator::jit
