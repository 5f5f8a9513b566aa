// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/counted_nests.h"

#include <algorithm>
#include <map>

#include "emulation/schedule/loop_instructions.h"
#include "emulation/schedule/wrong_values.h"

namespace trimtab::schedule {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::Operand;
using ptx::RegisterIndex;

NestFinder::NestFinder(const emulator::FunctionCode& code, const ptx::ControlFlow& flow)
    : code_(code), function_(*code.source), flow_(flow), liveness_(function_, flow) {}

std::optional<CountedLoop> NestFinder::counted(const ptx::Loop& loop) {
    if (!flow_.reducible || loop.latches.size() != 1) return std::nullopt;
    const auto exit = exit_of(loop);
    if (!exit || !is_plain(loop, exit->branch)) return std::nullopt;
    CountedLoop out;
    out.goes_on_if = exit->goes_on_if;
    out.slot = code_.counted_at[flow_.blocks[loop.header].first];
    if (out.slot != code_.instruction_base + flow_.blocks[loop.header].first) return std::nullopt;
    find_regions(loop, out);
    find_writes(loop);
    find_repeated(loop);
    if (!goes_the_same_way(loop, exit->branch) || !find_moving(loop, exit->branch, out) ||
        !steers_nothing(loop))
        return std::nullopt;
    return out;
}

template <class Visit>
void NestFinder::visit_instructions(const ptx::Loop& loop, const Visit& visit) const {
    for (const BlockIndex b : loop.blocks)
        for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i) visit(i);
}

void NestFinder::find_regions(const ptx::Loop& loop, CountedLoop& out) const {
    std::map<std::uint32_t, std::uint32_t> instructions;
    visit_instructions(loop, [&](std::uint32_t i) { ++instructions[code_.counted_at[i]]; });
    for (const auto& [slot, count] : instructions)
        out.regions.push_back({.slot = slot, .instructions = count});
}

bool NestFinder::is_bare_way_back(const ptx::Loop& loop, const ptx::BasicBlock& block) const {
    return block.last - block.first == 1 && is_plain_branch(at(block.first)) &&
           at(block.first).guard == no_index &&
           at(block.first).operands[0].target == flow_.blocks[loop.header].first;
}

// The one place where it is left: at the bottom of an iteration, whatever its first part did.
std::optional<NestFinder::Exit> NestFinder::exit_of(const ptx::Loop& loop) const {
    BlockIndex from = no_index;
    for (const BlockIndex b : loop.blocks)
        for (const BlockIndex next : flow_.blocks[b].successors) {
            if (loop.contains(next)) continue;
            if (from != no_index) return std::nullopt;
            from = b;
        }
    if (from == no_index || flow_.innermost_loop[from] == no_index ||
        &flow_.loops[flow_.innermost_loop[from]] != &loop)
        return std::nullopt;
    const ptx::BasicBlock& block = flow_.blocks[from];
    const std::uint32_t branch = block.last - 1;
    if (block.successors.size() != 2 || !is_plain_branch(at(branch)) || at(branch).guard == no_index)
        return std::nullopt;
    // A guarded branch's successors: where it goes when taken, then what follows.
    const bool goes_on_when_taken = loop.contains(block.successors[0]);
    const BlockIndex on = block.successors[goes_on_when_taken ? 0 : 1], latch = loop.latches.front();
    const bool is_bottom =
        from == latch ? on == loop.header : on == latch && is_bare_way_back(loop, flow_.blocks[latch]);
    if (!is_bottom) return std::nullopt;
    return Exit{.branch = branch, .goes_on_if = goes_on_when_taken != at(branch).guard_negated};
}

bool NestFinder::is_plain(const ptx::Loop& loop, std::uint32_t exit) const {
    bool is_plain = true;
    visit_instructions(loop, [&](std::uint32_t i) {
        is_plain = is_plain && (i == exit || is_plain_work(at(i)) || is_plain_branch(at(i)));
    });
    return is_plain;
}

void NestFinder::find_writes(const ptx::Loop& loop) {
    writes_.assign(function_.registers.size(), 0);
    writes_once_.assign(function_.registers.size(), 0);
    visit_instructions(loop, [this](std::uint32_t i) {
        ptx::visit_writes(at(i), [this](RegisterIndex reg) { ++writes_[reg]; });
    });
    for (const BlockIndex b : always_once(loop))
        for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i)
            ptx::visit_writes(at(i), [this](RegisterIndex reg) { ++writes_once_[reg]; });
}

// What is made anew in every iteration, of what stays or is made so: where each iteration goes the same way, such a
// register goes through the same values in each.
void NestFinder::find_repeated(const ptx::Loop& loop) {
    const ptx::RegisterSet& carried = liveness_.into(loop.header);
    is_repeated_.assign(function_.registers.size(), true);
    for (RegisterIndex reg = 0; reg < is_repeated_.size(); ++reg)
        is_repeated_[reg] = writes_[reg] == 0 || !carried.contains(reg);
    for (bool is_less = true; is_less;) {
        is_less = false;
        visit_instructions(loop, [&](std::uint32_t i) {
            // Some special registers are clocks.
            bool is_right =
                !reads_memory(at(i)) && std::ranges::none_of(at(i).operands, [](const Operand& o) {
                    return o.kind == Operand::Kind::special;
                });
            ptx::visit_reads(at(i), [&](RegisterIndex reg) { is_right = is_right && is_repeated_[reg]; });
            if (is_right) return;
            ptx::visit_writes(at(i), [&](RegisterIndex reg) {
                is_less = is_less || is_repeated_[reg];
                is_repeated_[reg] = false;
            });
        });
    }
}

bool NestFinder::goes_the_same_way(const ptx::Loop& loop, std::uint32_t exit) const {
    bool is_same = true;
    visit_instructions(loop, [&](std::uint32_t i) {
        const RegisterIndex guard = at(i).guard;
        is_same = is_same && (i == exit || guard == no_index || is_repeated_[guard]);
    });
    return is_same;
}

// The blocks that every iteration passes just once, in the order in which it does.
std::vector<BlockIndex> NestFinder::always_once(const ptx::Loop& loop) const {
    std::vector<BlockIndex> out;
    for (const BlockIndex b : loop.blocks)
        if (flow_.dominates(b, loop.latches.front()) && &flow_.loops[flow_.innermost_loop[b]] == &loop)
            out.push_back(b);
    std::ranges::sort(out, [this](BlockIndex a, BlockIndex b) { return a != b && flow_.dominates(a, b); });
    return out;
}

std::optional<LoopOperand> NestFinder::number_or_register(const Operand& o, std::uint32_t bytes) const {
    if (o.kind == Operand::Kind::immediate) return LoopOperand{.value = o.bits};
    if (!is_plain_register(o) || ptx::size_bytes(function_.registers[o.reg].type) != bytes ||
        code_.registers[o.reg] == emulator::no_operand)
        return std::nullopt;
    return LoopOperand{.at = code_.registers[o.reg]};
}

void NestFinder::follow(const ptx::Instruction& i) {
    Value made;
    const auto value_of = [&](const Operand& o) { return is_plain_register(o) ? values_[o.reg] : Value{}; };
    const auto stays = [&](const Operand& o) {
        return o.kind == Operand::Kind::immediate || (is_plain_register(o) && writes_[o.reg] == 0);
    };
    const auto has_bytes_of = [&](RegisterIndex reg, ptx::Type type) {
        return reg != no_index && ptx::size_bytes(function_.registers[reg].type) == ptx::size_bytes(type);
    };
    if (i.opcode == Opcode::mov && i.operands.size() == 2 && is_plain_register(i.operands[1])) {
        made = values_[i.operands[1].reg];
        if (!has_bytes_of(made.root, i.type)) made = {};
    } else if (is_plain_sum(i)) {
        const Value first = value_of(i.operands[1]), second = value_of(i.operands[2]);
        if (first.root != no_index && first.add == nullptr && stays(i.operands[2]))
            made = {.root = first.root, .add = &i, .by = &i.operands[2]};
        else if (second.root != no_index && second.add == nullptr && stays(i.operands[1]) &&
                 i.opcode == Opcode::add)
            made = {.root = second.root, .add = &i, .by = &i.operands[1]};
        if (!has_bytes_of(made.root, i.type)) made = {};
    }
    const bool is_one = i.destination_count == 1 && i.operands[0].kind == Operand::Kind::reg;
    ptx::visit_writes(i, [&](RegisterIndex reg) { values_[reg] = is_one ? made : Value{}; });
}

// Registers that end an iteration as they began it, but for an amount that stays.
void NestFinder::add_moving(CountedLoop& out) {
    moving_.assign(function_.registers.size(), none);
    for (RegisterIndex reg = 0; reg < values_.size(); ++reg) {
        const Value& end = values_[reg];
        if (end.root != reg || end.add == nullptr || writes_[reg] != writes_once_[reg]) continue;
        const std::uint32_t bytes = ptx::size_bytes(end.add->type);
        const auto by = number_or_register(*end.by, bytes);
        if (!by || code_.registers[reg] == emulator::no_operand) continue;
        moving_[reg] = static_cast<std::uint32_t>(out.moving.size());
        out.moving.push_back({.at = code_.registers[reg],
                              .bytes = bytes,
                              .by = *by,
                              .is_subtracted = end.add->opcode == Opcode::sub});
    }
}

std::optional<LoopOperand> NestFinder::side(const Operand& o, const Value& value, std::uint32_t bytes) const {
    auto out = number_or_register(o, bytes);
    if (!out || o.kind == Operand::Kind::immediate || writes_[o.reg] == 0) return out;
    if (value.root == no_index || moving_[value.root] == none) return std::nullopt;
    // What it is compared after is what moves it on, or a copy of that.
    if (value.add != nullptr && value.add != values_[value.root].add) return std::nullopt;
    if (ptx::size_bytes(function_.registers[value.root].type) != bytes) return std::nullopt;
    return LoopOperand{.at = code_.registers[value.root],
                       .moving = moving_[value.root],
                       .moves_first = value.add != nullptr};
}

bool NestFinder::find_moving(const ptx::Loop& loop, std::uint32_t exit, CountedLoop& out) {
    const RegisterIndex guard = at(exit).guard;
    if (writes_[guard] != 1 || writes_once_[guard] != 1) return false;
    values_.assign(function_.registers.size(), {});
    for (RegisterIndex reg = 0; reg < values_.size(); ++reg)
        // What is written on the way through a branch or a loop within has no value that is known.
        if (writes_[reg] == writes_once_[reg]) values_[reg].root = reg;
    const ptx::Instruction* test = nullptr;
    Value left, right;
    for (const BlockIndex b : always_once(loop))
        for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i) {
            bool writes_guard = false;
            ptx::visit_writes(at(i), [&](RegisterIndex reg) { writes_guard = writes_guard || reg == guard; });
            if (writes_guard) {
                test = &at(i);
                if (!is_plain_comparison(*test)) return false;
                const auto value_of = [&](const Operand& o) {
                    return o.kind == Operand::Kind::reg ? values_[o.reg] : Value{};
                };
                left = value_of(test->operands[1]);
                right = value_of(test->operands[2]);
            }
            follow(at(i));
            ptx::visit_writes(at(i), [&](RegisterIndex reg) {
                if (writes_[reg] != writes_once_[reg]) values_[reg] = {};
            });
        }
    if (test == nullptr) return false;
    add_moving(out);
    const std::uint32_t bytes = ptx::size_bytes(test->type);
    const auto first = side(test->operands[1], left, bytes), second = side(test->operands[2], right, bytes);
    if (!first || !second) return false;
    out.left = *first;
    out.right = *second;
    out.comparison = test->modifiers.comparison;
    out.type = test->type;
    return out.left.moving != none || out.right.moving != none;
}

// What an iteration hands on to the next is wrong, but for what moves; the rest the last iteration makes anew.
bool NestFinder::steers_nothing(const ptx::Loop& loop) const {
    WrongValues wrong(function_);
    const ptx::RegisterSet& carried = liveness_.into(loop.header);
    for (RegisterIndex reg = 0; reg < writes_.size(); ++reg)
        if (writes_[reg] != 0 && moving_[reg] == none && carried.contains(reg)) wrong.add(reg);
    visit_instructions(loop, [&](std::uint32_t i) {
        if (ptx::info(at(i).opcode).opcode_class == OpcodeClass::store) wrong.add_memory();
    });
    return wrong.steer_nothing();
}

}  // namespace trimtab::schedule
