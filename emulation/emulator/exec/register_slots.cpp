// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/register_slots.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "core/ptx/liveness.h"

namespace trimtab::emulator {
namespace {

// Where a register may hold a value that is still needed: instructions [first, last].
struct Life {
    std::uint32_t first = ptx::no_index, last = 0;
    void include(std::uint32_t instruction) {
        first = std::min(first, instruction);
        last = std::max(last, instruction);
    }
    [[nodiscard]] bool used() const { return first != ptx::no_index; }
};

std::vector<Life> find_lives(const ptx::Function& function, const ptx::ControlFlow& flow) {
    std::vector<Life> lives(function.registers.size());
    const ptx::Liveness liveness(function, flow);
    for (ptx::BlockIndex b = 0; b < flow.blocks.size(); b++) {
        const ptx::BasicBlock& block = flow.blocks[b];
        if (block.first == block.last) continue;
        for (const ptx::RegisterIndex reg : liveness.into(b).list()) lives[reg].include(block.first);
        for (const ptx::RegisterIndex reg : liveness.out_of(b).list()) lives[reg].include(block.last - 1);
        for (std::uint32_t i = block.first; i < block.last; i++) {
            const auto see = [&](ptx::RegisterIndex reg) { lives[reg].include(i); };
            visit_reads(function.body[i], see);
            visit_writes(function.body[i], see);
        }
    }
    return lives;
}

}  // namespace

RegisterSlots assign_slots(const ptx::Function& function, const ptx::ControlFlow& flow,
                           std::uint32_t class_count,
                           const std::function<std::uint32_t(ptx::RegisterIndex)>& class_of) {
    const std::vector<Life> lives = find_lives(function, flow);
    RegisterSlots made;
    made.slot.assign(lives.size(), ptx::no_index);
    made.count.assign(class_count, 0);
    std::vector<ptx::RegisterIndex> order;
    for (ptx::RegisterIndex reg = 0; reg < lives.size(); reg++) {
        if (lives[reg].used()) order.push_back(reg);
    }
    std::sort(order.begin(), order.end(), [&lives](ptx::RegisterIndex a, ptx::RegisterIndex b) {
        return std::pair(lives[a].first, a) < std::pair(lives[b].first, b);
    });
    using Ending = std::pair<std::uint32_t, std::uint32_t>;  // last instruction, slot
    std::vector<std::priority_queue<Ending, std::vector<Ending>, std::greater<>>> taken(class_count);
    std::vector<std::vector<std::uint32_t>> free(class_count);
    for (const ptx::RegisterIndex reg : order) {
        const std::uint32_t own = class_of(reg);
        // An instruction's result never takes the place of its operands: some write before all is read.
        while (!taken[own].empty() && taken[own].top().first < lives[reg].first) {
            free[own].push_back(taken[own].top().second);
            taken[own].pop();
        }
        std::uint32_t slot = made.count[own];
        if (free[own].empty()) {
            made.count[own]++;
        } else {
            slot = free[own].back();
            free[own].pop_back();
        }
        made.slot[reg] = slot;
        taken[own].emplace(lives[reg].last, slot);
    }
    return made;
}

}  // namespace trimtab::emulator
