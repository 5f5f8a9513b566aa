// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/open_nans.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "core/ptx/instruction_registers.h"
#include "emulation/emulator/jit/shapes.h"

namespace trimtab::emulator::jit {
namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Rounding;
using ptx::Type;

bool is_number(const Operand& operand, unsigned bytes) {
    if (bytes == 4 && operand.type != Type::f64)
        return !std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)));
    return !std::isnan(std::bit_cast<double>(operand.bits));
}

// What a move may take its value from.
std::span<const Operand> values_of(const ptx::Instruction& instruction) {
    const auto sources = instruction.sources();
    if (instruction.opcode == Opcode::mov && sources.size() == 1) return {sources.data(), 1};
    if (instruction.opcode == Opcode::selp && sources.size() == 3) return {sources.data(), 2};
    return {};
}

}  // namespace

bool is_compiled_real(const ptx::Instruction& instruction) {
    const auto& modifiers = instruction.modifiers;
    const bool single = instruction.type == Type::f32;
    if ((!single && instruction.type != Type::f64) || modifiers.sat || modifiers.relu ||
        modifiers.xorsign_abs)
        return false;
    if (modifiers.rounding == Rounding::approx || modifiers.rounding == Rounding::full) return single;
    return modifiers.rounding == Rounding::none || modifiers.rounding == Rounding::rn;
}

// Arithmetic whose NaNs are the GPU's.
bool OpenNans::is_made_by(const ptx::Instruction& instruction) const {
    if (!is_compiled_real(instruction) || instruction.destination_count != 1 ||
        instruction.operands[0].kind != Operand::Kind::reg ||
        register_bytes(function_, instruction.operands[0].reg) != ptx::size_bytes(instruction.type)) {
        return false;
    }
    switch (instruction.opcode) {
        case Opcode::add:
        case Opcode::sub:
        case Opcode::mul:
        case Opcode::fma:
        case Opcode::mad:
        case Opcode::min:
        case Opcode::max:
            return true;
        default:
            return false;
    }
}

// A move of what is open itself, or no NaN.
bool OpenNans::is_carried_by(const ptx::Instruction& instruction) const {
    const auto values = values_of(instruction);
    if (values.empty() || instruction.destination_count != 1 ||
        instruction.operands[0].kind != Operand::Kind::reg) {
        return false;
    }
    const unsigned bytes = register_bytes(function_, instruction.operands[0].reg);
    return bytes == ptx::size_bytes(instruction.type) &&
           std::ranges::all_of(values, [&](const Operand& value) {
               if (value.kind == Operand::Kind::immediate) return is_number(value, bytes);
               return value.kind == Operand::Kind::reg && !value.negated && open_[value.reg] &&
                      register_bytes(function_, value.reg) == bytes;
           });
}

OpenNans::OpenNans(const ptx::Function& function, bool may_be_any)
    : function_(function), open_(function.registers.size()) {
    if (!may_be_any) return;
    for (const ptx::Instruction& instruction : function.body) {
        if (is_made_by(instruction)) open_[instruction.operands[0].reg] = true;
    }
    // Where they may be carried to.
    const auto is_from_open = [this](const Operand& value) {
        return value.kind == Operand::Kind::reg && open_[value.reg];
    };
    for (bool more = true; more;) {
        more = false;
        for (const ptx::Instruction& instruction : function.body) {
            if (instruction.destination_count != 1 ||
                !std::ranges::any_of(values_of(instruction), is_from_open))
                continue;
            const Operand& to = instruction.operands[0];
            if (to.kind != Operand::Kind::reg || open_[to.reg]) continue;
            open_[to.reg] = more = true;
        }
    }
    // What anything else writes to has bits of its own.
    for (bool more = true; more;) {
        more = false;
        for (const ptx::Instruction& instruction : function.body) {
            if (is_made_by(instruction) || is_carried_by(instruction)) continue;
            visit_writes(instruction, [&](ptx::RegisterIndex reg) {
                more = more || open_[reg];
                open_[reg] = false;
            });
        }
    }
}

}  // namespace trimtab::emulator::jit
