// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/rounds.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/ptx/instruction_registers.h"

namespace trimtab::emulator {
namespace {

using ptx::Opcode;
using ptx::OpcodeClass;
using ptx::Space;

bool may_be_global(Space space) {
    return space == Space::global || space == Space::generic;
}

bool is_fence(OpcodeClass opcode_class) {
    return opcode_class == OpcodeClass::barrier || opcode_class == OpcodeClass::fence ||
           opcode_class == OpcodeClass::call;
}

std::vector<std::uint32_t> sorted(const std::unordered_set<std::uint32_t>& set) {
    std::vector<std::uint32_t> list(set.begin(), set.end());
    std::sort(list.begin(), list.end());
    return list;
}

}  // namespace

void analyse_rounds(const ptx::Function& function, std::uint32_t first, std::uint32_t last,
                    RegionInfo& region) {
    std::unordered_map<std::uint32_t, std::uint32_t> round_of;  // by register written here
    std::unordered_set<std::uint32_t> read_from_outside;
    std::vector<std::uint32_t> level(last - first);  // of each global load
    // What loads must not move above has waited for this round: stores to global memory; anything a barrier
    // waits for; the last barrier, for loads of the read-only path.
    std::uint32_t stores = 0, everything = 0, barrier = 0;
    for (std::uint32_t i = first; i < last; i++) {
        const ptx::Instruction& instruction = function.body[i];
        const OpcodeClass own = ptx::info(instruction.opcode).opcode_class;
        const bool loads = own == OpcodeClass::load || instruction.opcode == Opcode::atom;
        std::uint32_t operands = 0;
        visit_reads(instruction, [&](std::uint32_t reg) {
            const auto known = round_of.find(reg);
            if (known == round_of.end())
                read_from_outside.insert(reg);
            else
                operands = std::max(operands, known->second);
        });
        std::uint32_t result = operands;
        if (loads && may_be_global(instruction.modifiers.space)) {
            result = 1 + std::max(operands, instruction.modifiers.nc ? barrier : stores);
            level[i - first] = result;
            region.rounds = std::max(region.rounds, result);
            if (instruction.opcode == Opcode::atom) {
                stores = std::max(stores, result - 1);
                everything = std::max(everything, stores);
            }
        } else if (own == OpcodeClass::store || own == OpcodeClass::atomic || own == OpcodeClass::copy) {
            if (may_be_global(instruction.modifiers.space)) stores = std::max(stores, operands);
            everything = std::max(everything, operands);
        } else if (is_fence(own)) {
            everything = std::max(everything, operands);
            stores = barrier = everything;
        } else if (loads) {
            result = std::max(operands, everything);
        }
        visit_writes(instruction, [&](std::uint32_t reg) { round_of[reg] = result; });
    }
    region.read = sorted(read_from_outside);
    if (region.rounds == 0) return;

    // Backwards: which registers from outside the first round's addresses are made from, and whether anything
    // waits for the last round.
    std::unordered_set<std::uint32_t> needed;
    for (std::uint32_t i = last; i-- > first;) {
        const ptx::Instruction& instruction = function.body[i];
        bool makes_needed = level[i - first] == 1;
        visit_writes(instruction,
                     [&](std::uint32_t reg) { makes_needed = needed.erase(reg) != 0 || makes_needed; });
        if (makes_needed) visit_reads(instruction, [&](std::uint32_t reg) { needed.insert(reg); });
    }
    region.needed_first = sorted(needed);
    std::unordered_set<std::uint32_t> pending;
    for (std::uint32_t i = first; i < last; i++) {
        bool waits = false;
        visit_reads(function.body[i], [&](std::uint32_t reg) { waits = waits || pending.contains(reg); });
        if (waits) return;
        if (level[i - first] == region.rounds)
            visit_writes(function.body[i], [&](std::uint32_t reg) { pending.insert(reg); });
    }
    region.left_pending = sorted(pending);
}

}  // namespace trimtab::emulator
