// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/counted_loops.h"

#include <algorithm>
#include <optional>

#include "core/ptx/control_flow.h"
#include "core/ptx/instruction_registers.h"
#include "core/ptx/opcodes.h"
#include "emulation/schedule/counted_nests.h"
#include "emulation/schedule/loop_instructions.h"
#include "emulation/schedule/wrong_values.h"

namespace trimtab::schedule {

namespace {

using emulator::FunctionCode;
using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::Operand;
using ptx::RegisterIndex;

class LoopFinder {
  public:
    LoopFinder(const FunctionCode& code, const ptx::ControlFlow& flow)
        : code_(code), function_(*code.source), flow_(flow) {}

    std::vector<CountedLoop> run() {
        std::vector<CountedLoop> out;
        NestFinder nests(code_, flow_);
        for (const ptx::Loop& loop : flow_.loops) {
            const ptx::BasicBlock* const back = branch_back(loop);
            auto found = loop.blocks.size() == (back == nullptr ? 1u : 2u)
                             ? counted(flow_.blocks[loop.header], back)
                             : std::nullopt;
            if (!found) found = nests.counted(loop);
            if (found) out.push_back(std::move(*found));
        }
        return out;
    }

  private:
    [[nodiscard]] const ptx::Instruction& at(std::uint32_t i) const { return function_.body[i]; }

    // Of a loop that is left at the end of its first block: the second, if that is nothing but the way back.
    [[nodiscard]] const ptx::BasicBlock* branch_back(const ptx::Loop& loop) const {
        if (loop.blocks.size() != 2) return nullptr;
        const ptx::BasicBlock& back = flow_.blocks[loop.blocks[1]];
        if (back.last - back.first != 1) return nullptr;
        const ptx::Instruction& branch = at(back.first);
        const bool goes_back = branch.opcode == Opcode::bra && branch.guard == ptx::no_index &&
                               branch.operands.size() == 1 &&
                               branch.operands[0].target == flow_.blocks[loop.header].first;
        return goes_back ? &back : nullptr;
    }

    [[nodiscard]] std::optional<CountedLoop> counted(const ptx::BasicBlock& block,
                                                     const ptx::BasicBlock* back) {
        if (!is_plain(block, back)) return std::nullopt;
        find_writes(block);
        CountedLoop loop;
        loop.slot = code_.instruction_base + block.first;
        loop.instructions = block.last - block.first;
        if (back != nullptr) {
            loop.back_slot = code_.counted_at[back->first];
            ++loop.instructions;
        }
        for (std::uint32_t i = block.first; i < block.last; ++i) find_moving(i, loop);
        if (!find_exit(block, loop) || !steers_nothing(block)) return std::nullopt;
        // With a branch of its own back, the other one is the way out.
        if (back != nullptr) loop.goes_on_if = !loop.goes_on_if;
        return loop;
    }

    // One region that every iteration runs from top to bottom, of nothing that other threads could wait for.
    [[nodiscard]] bool is_plain(const ptx::BasicBlock& block, const ptx::BasicBlock* back) const {
        if (block.last - block.first < 2) return false;
        const ptx::Instruction& last = at(block.last - 1);
        if (last.opcode != Opcode::bra || last.guard == ptx::no_index || last.operands.size() != 1)
            return false;
        if (back == nullptr ? last.operands[0].target != block.first : block.last != back->first)
            return false;
        for (std::uint32_t i = block.first; i < block.last; ++i) {
            if (code_.counted_at[i] != code_.instruction_base + block.first || has_state(at(i))) return false;
            if (i + 1 != block.last && !is_plain_work(at(i))) return false;
        }
        return true;
    }

    void find_writes(const ptx::BasicBlock& block) {
        writes_.assign(function_.registers.size(), 0);
        moving_.assign(function_.registers.size(), none);
        moved_at_.assign(function_.registers.size(), 0);
        for (std::uint32_t i = block.first; i < block.last; ++i)
            ptx::visit_writes(at(i), [this](RegisterIndex reg) { ++writes_[reg]; });
    }

    // A register of so many bytes, or a number.
    [[nodiscard]] std::optional<LoopOperand> operand(const Operand& o, std::uint32_t bytes) const {
        if (o.kind == Operand::Kind::immediate) return LoopOperand{.value = o.bits};
        if (!is_plain_register(o) || ptx::size_bytes(function_.registers[o.reg].type) != bytes ||
            code_.registers[o.reg] == emulator::no_operand)
            return std::nullopt;
        return LoopOperand{.at = code_.registers[o.reg], .moving = moving_[o.reg]};
    }

    // r = r + x or r = r - x, where nothing else in the loop writes r, and nothing x.
    void find_moving(std::uint32_t i, CountedLoop& loop) {
        const ptx::Instruction& add = at(i);
        if (!is_plain_sum(add)) return;
        const Operand& to = add.operands[0];
        const std::uint32_t bytes = ptx::size_bytes(add.type);
        if (writes_[to.reg] != 1) return;
        const auto is_own = [&](const Operand& o) { return o.kind == Operand::Kind::reg && o.reg == to.reg; };
        const Operand* by = nullptr;
        if (is_own(add.operands[1]))
            by = &add.operands[2];
        else if (is_own(add.operands[2]) && add.opcode == Opcode::add)
            by = &add.operands[1];
        if (by == nullptr || (by->kind == Operand::Kind::reg && writes_[by->reg] != 0)) return;
        const auto own = operand(to, bytes), amount = operand(*by, bytes);
        if (!own || !amount) return;
        moving_[to.reg] = static_cast<std::uint32_t>(loop.moving.size());
        moved_at_[to.reg] = i;
        loop.moving.push_back(
            {.at = own->at, .bytes = bytes, .by = *amount, .is_subtracted = add.opcode == Opcode::sub});
    }

    [[nodiscard]] bool find_exit(const ptx::BasicBlock& block, CountedLoop& loop) const {
        const ptx::Instruction& branch = at(block.last - 1);
        if (writes_[branch.guard] != 1) return false;
        for (std::uint32_t i = block.first; i + 1 < block.last; ++i) {
            const ptx::Instruction& test = at(i);
            bool writes_guard = false;
            ptx::visit_writes(test,
                              [&](RegisterIndex reg) { writes_guard = writes_guard || reg == branch.guard; });
            if (!writes_guard) continue;
            if (!is_plain_comparison(test)) return false;
            const std::uint32_t bytes = ptx::size_bytes(test.type);
            for (const auto& [from, to] :
                 {std::pair(&test.operands[1], &loop.left), std::pair(&test.operands[2], &loop.right)}) {
                const auto found = operand(*from, bytes);
                if (!found) return false;
                *to = *found;
                if (from->kind != Operand::Kind::reg) continue;
                if (to->moving == none && writes_[from->reg] != 0) return false;
                to->moves_first = to->moving != none && moved_at_[from->reg] < i;
            }
            loop.comparison = test.modifiers.comparison;
            loop.type = test.type;
            loop.goes_on_if = !branch.guard_negated;
            return loop.left.moving != none || loop.right.moving != none;
        }
        return false;
    }

    // --- what is wrong after iterations that were left out ---

    [[nodiscard]] bool steers_nothing(const ptx::BasicBlock& block) const {
        WrongValues wrong(function_);
        std::vector<bool> is_made(function_.registers.size(), false);
        for (std::uint32_t i = block.first; i < block.last; ++i) {
            // Right again once the loop's last iteration has run: what it makes of what stays, what moves, and what it
            // has made before.
            bool is_right = true;
            ptx::visit_reads(at(i), [&](RegisterIndex reg) {
                is_right = is_right && (writes_[reg] == 0 || moving_[reg] != none || is_made[reg]);
            });
            ptx::visit_writes(at(i), [&](RegisterIndex reg) {
                if (moving_[reg] != none) return;
                is_made[reg] = is_right;
                if (!is_right) wrong.add(reg);
            });
            if (ptx::info(at(i).opcode).opcode_class == OpcodeClass::store) wrong.add_memory();
        }
        return wrong.steer_nothing();
    }

    const FunctionCode& code_;
    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    // Of the loop that is looked at, by register: how often it writes it; which of its moving ones it is, and where it
    // moves.
    std::vector<std::uint32_t> writes_, moving_, moved_at_;
};

}  // namespace

std::vector<CountedLoop> counted_loops(const emulator::CompiledKernel& kernel) {
    const emulator::KernelCode& code = kernel.code(true, true);
    if (code.functions.size() != 1) return {};
    const FunctionCode& function = *code.functions.front();
    const bool calls = std::ranges::any_of(function.source->body, [](const ptx::Instruction& i) {
        return ptx::info(i.opcode).opcode_class == OpcodeClass::call;
    });
    const auto flow = ptx::control_flow(*function.source);
    if (calls || !flow || !function.error.empty()) return {};
    return LoopFinder(function, *flow).run();
}

}  // namespace trimtab::schedule
