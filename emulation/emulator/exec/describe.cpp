// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/describe.h"

#include <fmt/format.h>

namespace trimtab::emulator {
namespace {

std::string register_name(const ptx::Function& function, ptx::RegisterIndex index) {
    return index < function.registers.size() ? function.registers[index].name : "?";
}

std::string label_name(const ptx::Function& function, const ptx::Operand& operand) {
    if (!operand.text.empty()) return operand.text;
    for (const auto& [name, target] : function.labels) {
        if (target == operand.target) return name;
    }
    return "?";
}

std::string operand_text(const ptx::Function& function, const ptx::Operand& operand);

std::string list_text(const ptx::Function& function, const std::vector<ptx::Operand>& operands) {
    std::string text;
    for (const ptx::Operand& operand : operands) {
        if (!text.empty()) text += ", ";
        text += operand_text(function, operand);
    }
    return text;
}

std::string operand_text(const ptx::Function& function, const ptx::Operand& operand) {
    using Kind = ptx::Operand::Kind;
    const std::string offset = operand.offset == 0 ? "" : fmt::format("{:+}", operand.offset);
    switch (operand.kind) {
        case Kind::reg: {
            const bool predicate = function.registers[operand.reg].type == ptx::Type::pred;
            return (!operand.negated ? ""
                    : predicate      ? "!"
                                     : "-") +
                   register_name(function, operand.reg) + (operand.text.empty() ? "" : "." + operand.text);
        }
        case Kind::immediate:
            if (operand.type == ptx::Type::f32) return fmt::format("0f{:08X}", operand.bits & 0xffffffffu);
            if (operand.type == ptx::Type::f64) return fmt::format("0d{:016X}", operand.bits);
            return fmt::format("{}", static_cast<std::int64_t>(operand.bits));
        case Kind::special:
            return operand.text.empty() ? std::string(ptx::name(operand.special)) : operand.text;
        case Kind::symbol:
            return operand.text + offset;
        case Kind::address: {
            std::string base = operand.text;
            if (operand.reg != ptx::no_index) base = register_name(function, operand.reg);
            if (base.empty()) base = fmt::format("{}", operand.bits);
            return "[" + base + offset + "]";
        }
        case Kind::label:
            return label_name(function, operand);
        case Kind::vector:
            return "{" + list_text(function, operand.elements) + "}";
        case Kind::sink:
            return "_";
        case Kind::none:
            break;
    }
    return "";
}

}  // namespace

std::string instruction_text(const ptx::Function& function, const ptx::Instruction& instruction) {
    std::string text;
    if (instruction.guard != ptx::no_index) {
        text = fmt::format("@{}{} ", instruction.guard_negated ? "!" : "",
                           register_name(function, instruction.guard));
    }
    text += instruction.mnemonic;
    const std::string operands = list_text(function, instruction.operands);
    return operands.empty() ? text : text + " " + operands;
}

std::string place_text(const ptx::Module& module, const ptx::Instruction& instruction) {
    std::string source = module.source_text(instruction.location);
    if (!source.empty()) return source;
    if (module.origin.empty()) return fmt::format("PTX line {}", instruction.line);
    return fmt::format("PTX line {} of {}", instruction.line, module.origin);
}

}  // namespace trimtab::emulator
