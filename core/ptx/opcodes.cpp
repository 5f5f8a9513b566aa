// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/opcodes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/ptx/names.h"

namespace trimtab::ptx {
namespace {

constexpr OpcodeInfo opcode_table[] = {
#define OPCODE(enumerator, spelling, opcode_class, pipe, sources, traits) \
    {Opcode::enumerator, spelling, OpcodeClass::opcode_class, Pipe::pipe, sources, traits},
#include "core/ptx/opcodes.def"
};

constexpr auto by_name = [] {
    std::array<std::pair<std::string_view, Opcode>, std::size(opcode_table)> out;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {opcode_table[i].name, opcode_table[i].opcode};
    std::sort(out.begin(), out.end());
    return out;
}();

}  // namespace

const OpcodeInfo& info(Opcode opcode) {
    return opcode_table[static_cast<std::size_t>(opcode)];
}

std::string_view name(Opcode opcode) {
    return info(opcode).name;
}

Opcode find_opcode(std::string_view base) {
    const auto at = std::ranges::lower_bound(by_name, base, {}, &std::pair<std::string_view, Opcode>::first);
    return at == by_name.end() || at->first != base ? Opcode::unknown : at->second;
}

bool is_pure(Opcode opcode) {
    return info(opcode).opcode_class == OpcodeClass::pure;
}

bool is_elementwise(const Instruction& instruction) {
    if (!is_pure(instruction.opcode)) return false;
    for (const State state : {State::carry, State::stack}) {
        if (reads(instruction, state) || writes(instruction, state)) return false;
    }
    return true;
}

bool has(const Instruction& instruction, std::string_view suffix) {
    return std::ranges::find(instruction.suffixes, suffix) != instruction.suffixes.end();
}

bool ends_block(Opcode opcode) {
    return info(opcode).has(jumps | leaves);
}

bool is_load(const Instruction& instruction) {
    return info(instruction.opcode).opcode_class == OpcodeClass::load;
}

bool is_ordered(const Instruction& instruction) {
    return instruction.modifiers.semantics != MemorySemantics::weak ||
           instruction.modifiers.cache == CacheOp::cv;
}

bool reads(const Instruction& instruction, State state) {
    return info(instruction.opcode).has(state == State::carry ? takes_carry : takes_stack_pointer);
}

bool writes(const Instruction& instruction, State state) {
    if (state == State::stack) return info(instruction.opcode).has(sets_stack_pointer);
    return instruction.modifiers.carry_out || instruction.opcode == Opcode::call;
}

}  // namespace trimtab::ptx
