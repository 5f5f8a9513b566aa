// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of a basic block whose places are known before the first of them: they are checked there,
// all at once. The stretch of code from the first to the last is made twice: for all in range, and for the
// rest, where each is checked by itself.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "core/ptx/instruction_registers.h"
#include "emulation/emulator/jit/load_order.h"
#include "emulation/emulator/jit/translator.h"

namespace trimtab::emulator::jit {
namespace {

// An addition of whole registers of 64 bits.
bool is_plain_sum(const ptx::Instruction& instruction) {
    return instruction.opcode == ptx::Opcode::add && instruction.guard == ptx::no_index &&
           ptx::size_bytes(instruction.type) == 8 && !ptx::is_float(instruction.type) &&
           !instruction.modifiers.sat && !instruction.modifiers.carry_out &&
           instruction.destination_count == 1 && instruction.operands.size() == 3 &&
           instruction.operands[0].kind == ptx::Operand::Kind::reg;
}

bool reads_register(const ptx::Instruction& instruction, ptx::RegisterIndex reg) {
    bool found = false;
    ptx::visit_reads(instruction, [&](ptx::RegisterIndex read) { found = found || read == reg; });
    return found;
}

const ptx::Operand& place_operand(const ptx::Instruction& instruction) {
    return instruction.operands[is_load(instruction) ? 1 : 0];
}
const ptx::Operand& value_operand(const ptx::Instruction& instruction) {
    return instruction.operands[is_load(instruction) ? 0 : 1];
}

}  // namespace

// Its place has a shape, and resolve() leaves it that shape.
bool Translator::may_be_in_row(std::uint32_t index) const {
    const Instruction& instruction = function_.body[index];
    const ptx::Space space = instruction.modifiers.space;
    if ((!is_load(instruction) && instruction.opcode != ptx::Opcode::st) ||
        instruction.guard != ptx::no_index || is_ordered(instruction) ||
        (space != ptx::Space::global && space != ptx::Space::shared)) {
        return false;
    }
    const Operand& place = place_operand(instruction);
    if (place.kind != Operand::Kind::address || place.reg == ptx::no_index || slots_[place.reg] == nullptr)
        return false;
    const Op* op = memory_op(index);
    const Shape& shape = shapes_->of(place.reg);
    if (op == nullptr || op->info == nullptr || shape.is_general() ||
        (register_bytes(function_, place.reg) != 8 && space != ptx::Space::shared))
        return false;
    const auto& info = *static_cast<const MemoryInfo*>(op->info);
    const bool is_in_runs_order = lanes_in_order(shape, shapes_->run_lanes(), info.element_bytes);
    if (shape.is_runs() && (info.element_count != 1 || !is_in_runs_order)) return false;
    if (!is_load(instruction) && shape.is_pattern() && !is_in_runs_order &&
        !lanes_in_order(shape, warp_lanes, info.total_bytes))
        return false;
    return static_cast<std::int64_t>(op->imm) < (1 << 30) && static_cast<std::int64_t>(op->imm) > -(1 << 30);
}

// Adds to `moved` the instruction and what it needs of those from `first` on, in their order; false: they
// cannot be made before `first`, or some of what is from there to `last` needs their registers' old values.
bool Translator::move_to(std::uint32_t first, std::uint32_t last, std::uint32_t index,
                         std::vector<std::uint32_t>& moved) const {
    if (std::ranges::find(moved, index) != moved.end()) return true;
    const Instruction& instruction = function_.body[index];
    if (!is_elementwise(instruction) || instruction.guard != ptx::no_index ||
        instruction.destination_count != 1 || instruction.operands[0].kind != Operand::Kind::reg ||
        slots_[instruction.operands[0].reg] == nullptr ||
        reads_register(instruction, instruction.operands[0].reg))
        return false;
    const ptx::RegisterIndex made = instruction.operands[0].reg;
    for (std::uint32_t i = first; i <= last; i++) {
        if (i != index && writes_to(function_.body[i], made)) return false;
        if (i < index && reads_register(function_.body[i], made)) return false;
    }
    bool good = true;
    ptx::visit_reads(instruction, [&](ptx::RegisterIndex reg) {
        for (std::uint32_t i = first; i < index && good; i++) {
            if (writes_to(function_.body[i], reg)) good = move_to(first, last, i, moved);
        }
    });
    if (good) moved.push_back(index);
    return good;
}

void Translator::find_stretches() {
    for (const ptx::BasicBlock& block : flow_.blocks) {
        for (std::uint32_t i = block.first; i < block.last;) {
            const auto goes_on = [&](std::uint32_t at) {
                if (at == block.last) return false;
                const bool is_entered = is_entry_point_[at] && code_.entry_op[at] != FunctionCode::no_op;
                const bool is_counted = is_counted_ && code_.region_at[at] != FunctionCode::no_op;
                return !is_entered && !is_counted && stays_on_path(function_.body[at]);
            };
            std::uint32_t end = i + 1;
            if (stays_on_path(function_.body[i])) {
                while (goes_on(end)) end++;
                find_stretch(i, end);
            }
            i = end;
        }
    }
}

// Back from the register that `index` finds its place by to where nothing has been added to it but what is
// the same for all lanes; `row` and `moved` have the way.
std::optional<ptx::RegisterIndex> Translator::find_root(std::uint32_t first, std::uint32_t last,
                                                        std::uint32_t index, Row& row,
                                                        std::vector<std::uint32_t>& moved) const {
    const Shape& shape = shapes_->of(row.reg);
    const auto is_like = [&](const Operand& operand) {
        return operand.kind == Operand::Kind::reg && register_bytes(function_, operand.reg) == 8 &&
               slots_[operand.reg] != nullptr && shapes_->of(operand.reg) == shape;
    };
    const auto is_same = [&](const Operand& operand) {
        return operand.kind == Operand::Kind::immediate ||
               (operand.kind == Operand::Kind::reg && register_bytes(function_, operand.reg) == 8 &&
                slots_[operand.reg] != nullptr && shapes_->of(operand.reg).is_uniform());
    };
    ptx::RegisterIndex reg = row.reg;
    for (std::uint32_t i = index; i > first;) {
        const Instruction& before = function_.body[--i];
        if (!writes_to(before, reg)) continue;
        if (!move_to(first, last, i, moved)) return std::nullopt;
        if (!is_plain_sum(before)) break;
        const Operand &a = before.operands[1], &b = before.operands[2];
        if (!(is_like(a) && is_same(b)) && !(is_like(b) && is_same(a))) break;
        const bool is_first = is_like(a) && is_same(b);
        row.added.emplace_back(reg, is_first ? &b : &a);
        reg = is_first ? a.reg : b.reg;
    }
    return reg;
}

void Translator::find_stretch(std::uint32_t first, std::uint32_t end) {
    while (first < end && !may_be_in_row(first)) first++;
    while (first < end && !may_be_in_row(end - 1)) end--;
    Stretch stretch;
    stretch.last = end - 1;
    std::map<std::uint32_t, std::size_t> row_of;
    std::vector<std::vector<std::int64_t>> places;
    const std::size_t first_row = rows_.size();
    for (std::uint32_t i = first; i < end; i++) {
        if (!may_be_in_row(i)) continue;
        const Instruction& own = function_.body[i];
        const auto& info = *static_cast<const MemoryInfo*>(memory_op(i)->info);
        const auto at = static_cast<std::int64_t>(memory_op(i)->imm);
        Row row;
        row.reg = place_operand(own).reg;
        row.first = i;
        std::vector<std::uint32_t> moved = stretch.moved;
        const auto root = find_root(first, stretch.last, i, row, moved);
        if (!root) continue;
        // Those of a hull are of one kind: all aligned if one is.
        const auto hull = std::ranges::find_if(stretch.hulls, [&](const Hull& other) {
            const std::uint32_t like = rows_[other.rows.front()].first;
            const Instruction& of = function_.body[like];
            return other.reg == *root && is_load(of) == is_load(own) && of.type == own.type &&
                   of.modifiers.space == own.modifiers.space &&
                   value_operand(of).elements.size() == value_operand(own).elements.size() &&
                   (at - static_cast<std::int64_t>(memory_op(like)->imm)) % info.alignment_bytes == 0;
        });
        stretch.moved = std::move(moved);
        Hull& into = hull == stretch.hulls.end()
                         ? stretch.hulls.emplace_back(Hull{*root, at, at + info.total_bytes, {}})
                         : *hull;
        into.low = std::min(into.low, at);
        into.high = std::max<std::int64_t>(into.high, at + info.total_bytes);
        const auto known =
            std::ranges::find_if(into.rows, [&](std::size_t r) { return rows_[r].reg == row.reg; });
        const std::size_t number = known == into.rows.end() ? rows_.size() : *known;
        if (known == into.rows.end()) {
            into.rows.push_back(number);
            rows_.push_back(row);
            places.emplace_back();
        }
        Row& mine = rows_[number];
        const std::int64_t behind = at - static_cast<std::int64_t>(memory_op(mine.first)->imm);
        mine.low = std::min(mine.low, behind);
        mine.high = std::max<std::int64_t>(mine.high, behind + info.total_bytes);
        places[number - first_row].push_back(behind);
        row_of[i] = number;
    }
    if (row_of.size() < 2) {
        rows_.resize(first_row);
        return;
    }
    for (Hull& hull : stretch.hulls) {
        // What is added to all alike comes first.
        const auto& like = rows_[hull.rows.front()].added;
        while (!like.empty() && std::ranges::all_of(hull.rows, [&](std::size_t r) {
            return !rows_[r].added.empty() && rows_[r].added.back() == like.back();
        })) {
            hull.reg = like.back().first;
            for (const std::size_t r : hull.rows) rows_[r].added.pop_back();
        }
    }
    for (std::size_t i = 0; is_counted_ && i < places.size(); i++) {
        constexpr std::int64_t sector_bytes = std::int64_t{1} << SectorSet::sector_shift;
        std::ranges::sort(places[i]);
        const auto gap = std::ranges::adjacent_find(
            places[i], [](std::int64_t a, std::int64_t b) { return b - a > sector_bytes; });
        rows_[first_row + i].is_dense = gap == places[i].end();
        rows_[first_row + i].is_inserted = b_.CreateAlloca(b_.getInt1Ty());
    }
    row_of_.merge(row_of);
    stretches_[first] = std::move(stretch);
}

// i1: all of the hull's rows are in range and aligned. `access`: its root's place, and the range.
llvm::Value* Translator::check_hull(const Hull& hull, Access& access) {
    access.op = memory_op(rows_[hull.rows.front()].first);
    const Value root = read(hull.reg);
    access.shape = root.shape;
    access.address = resize(root.v, 8, false);
    access.alignment = static_cast<const MemoryInfo*>(access.op->info)->alignment_bytes - 1u;
    find_range(access);
    // Where its rows begin: between these two from the root.
    llvm::Value *least = nullptr, *most = nullptr, *any = b_.getInt64(0);
    for (const std::size_t i : hull.rows) {
        Row& row = rows_[i];
        row.distance = b_.getInt64(0);
        for (const auto& [sum, added] : row.added)
            row.distance = b_.CreateAdd(row.distance, source(*added, 8, ptx::Type::s64)->v);
        if (i == hull.rows.front()) least = most = row.distance;
        least = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, row.distance);
        most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, most, row.distance);
        any = b_.CreateOr(any, row.distance);
    }
    Access whole = access;
    whole.address = b_.CreateAdd(
        access.address, splat_like(access.address, b_.CreateAdd(least, b_.getInt64(access.op->imm))));
    const auto at = static_cast<std::int64_t>(access.op->imm);
    llvm::Value* good = is_good(whole, hull.low - at, hull.high - at, b_.CreateSub(most, least));
    if (access.alignment == 0) return good;
    llvm::Value* rest = b_.CreateAnd(any, b_.getInt64(access.alignment));
    return b_.CreateAnd(good, b_.CreateICmpEQ(rest, b_.getInt64(0)));
}

void Translator::translate_stretch(std::uint32_t first, const Stretch& stretch) {
    count_region(first);
    leaves_before_ = first;
    for (const std::uint32_t moved : stretch.moved) translate_work(moved);
    leaves_before_ = ptx::no_index;
    auto* together = llvm::BasicBlock::Create(context_, "together", made_);
    auto* alone = llvm::BasicBlock::Create(context_, "alone", made_);
    auto* behind = llvm::BasicBlock::Create(context_, "behind", made_);
    std::vector<Access> roots;
    llvm::Value* good = b_.getTrue();
    for (const Hull& hull : stretch.hulls) good = b_.CreateAnd(good, check_hull(hull, roots.emplace_back()));
    b_.CreateCondBr(good, together, alone, likely_);
    b_.SetInsertPoint(together);
    for (std::size_t i = 0; i < roots.size(); i++) {
        const Row& like = rows_[stretch.hulls[i].rows.front()];
        const bool is_in_runs =
            roots[i].shape.is_runs() ||
            (roots[i].shape.is_pattern() && !is_load(function_.body[like.first]) &&
             !lanes_in_order(roots[i].shape, warp_lanes,
                             static_cast<const MemoryInfo*>(roots[i].op->info)->total_bytes));
        const std::vector<llvm::Value*> hosts = hosts_of(roots[i], is_in_runs);
        for (const std::size_t number : stretch.hulls[i].rows) {
            Row& row = rows_[number];
            row.hosts.clear();
            for (llvm::Value* host : hosts)
                row.hosts.push_back(b_.CreateGEP(b_.getInt8Ty(), host, row.distance));
        }
    }
    const auto translate = [&] {
        for (std::uint32_t i = first; i <= stretch.last; i++) {
            if (std::ranges::find(stretch.moved, i) == stretch.moved.end()) translate_work(i);
        }
        b_.CreateBr(behind);
    };
    is_checked_ = true;
    translate();
    is_checked_ = false;
    b_.SetInsertPoint(alone);
    translate();
    b_.SetInsertPoint(behind);
}

}  // namespace trimtab::emulator::jit
