// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trimtab::ptx {
namespace {

std::string linkage(const auto& symbol) {
    if (symbol.is_extern) return ".extern ";
    if (symbol.is_weak) return ".weak ";
    return symbol.is_visible ? ".visible " : "";
}

std::string integer(std::int64_t value) {
    return fmt::format("{}", value);
}

// A vector register's component, v.x, is declared by itself here.
std::string register_name(const Function& function, RegisterIndex reg) {
    std::string out = function.registers[reg].name;
    std::replace(out.begin(), out.end(), '.', '$');
    return out;
}

std::string print(const Operand& operand, const Function& function) {
    std::string out = operand.negated ? "!" : "";
    switch (operand.kind) {
        case Operand::Kind::reg:
            if (function.registers[operand.reg].type != Type::pred && operand.negated) out = "-";
            return out + register_name(function, operand.reg) +
                   (operand.text.empty() ? "" : "." + operand.text);
        case Operand::Kind::immediate:
            if (operand.type == Type::f32) return fmt::format("0f{:08X}", operand.bits);
            if (operand.type == Type::f64) return fmt::format("0d{:016X}", operand.bits);
            if (operand.type == Type::u64) return fmt::format("0x{:x}U", operand.bits);
            return integer(static_cast<std::int64_t>(operand.bits));
        case Operand::Kind::special:
            if (operand.special != SpecialRegister::other) return std::string(name(operand.special));
            return operand.text;
        case Operand::Kind::symbol:
            return operand.text + (operand.offset != 0 ? "+" + integer(operand.offset) : "");
        case Operand::Kind::address:
            if (operand.reg != no_index)
                out = "[" + register_name(function, operand.reg);
            else if (!operand.text.empty())
                out = "[" + operand.text;
            else
                out = fmt::format("[{}", operand.bits);
            if (operand.offset != 0) out += "+" + integer(operand.offset);
            if (!operand.elements.empty()) {
                out += ", {";
                for (std::size_t i = 0; i < operand.elements.size(); ++i) {
                    out += (i > 0 ? ", " : "") + print(operand.elements[i], function);
                }
                out += "}";
            }
            return out + "]";
        case Operand::Kind::label:
            if (operand.target == no_index) return operand.text;
            return fmt::format("at_{}", operand.target);
        case Operand::Kind::vector:
            out = "{";
            for (std::size_t i = 0; i < operand.elements.size(); ++i) {
                out += (i > 0 ? ", " : "") + print(operand.elements[i], function);
            }
            return out + "}";
        case Operand::Kind::sink:
            return "_";
        case Operand::Kind::none:
            return "?";
    }
    return "?";
}

std::string print_call(const Instruction& call, const Function& function) {
    std::string out;
    if (call.destination_count > 0) {
        for (std::size_t i = 0; i < call.destination_count; ++i) {
            out += (i == 0 ? "(" : ", ") + print(call.operands[i], function);
        }
        out += "), ";
    }
    std::string arguments, prototype;
    for (std::size_t i = call.destination_count; i < call.operands.size(); ++i) {
        const Operand& operand = call.operands[i];
        if (i == call.destination_count)
            out += print(operand, function);
        else if (operand.kind == Operand::Kind::label)
            prototype = ", " + print(operand, function);
        else
            arguments += (arguments.empty() ? "" : ", ") + print(operand, function);
    }
    return out + ", (" + arguments + ")" + prototype;
}

std::string print(const Instruction& instruction, const Function& function) {
    std::string out;
    if (instruction.guard != no_index) {
        out = (instruction.guard_negated ? "@!" : "@") + register_name(function, instruction.guard) + " ";
    }
    out += instruction.mnemonic.substr(0, instruction.mnemonic.find('.'));
    for (const std::string& suffix : instruction.suffixes) out += "." + suffix;
    out += " ";
    if (instruction.opcode == Opcode::call) return out + print_call(instruction, function) + ";\n";
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
        const bool is_pair = i == 1 && instruction.destination_count == 2;
        out += (i == 0 ? "" : is_pair ? "|" : ", ") + print(instruction.operands[i], function);
    }
    return out + ";\n";
}

std::string print_parameters(const std::vector<Variable>& parameters) {
    std::string out = "(";
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Variable& p = parameters[i];
        if (i > 0) out += ", ";
        out += fmt::format(".{} ", p.space == Space::reg ? "reg" : "param");
        if (p.is_array) out += fmt::format(".align {} ", p.alignment_bytes);
        out += fmt::format(".{} {}", name(p.type), p.name.empty() ? "_" : p.name);
        if (p.is_array) out += fmt::format("[{}]", p.size_bytes / size_bytes(p.type));
    }
    return out + ")";
}

std::string print_initial(const Variable& v) {
    std::string out = " = {";
    const std::uint64_t element = size_bytes(v.type);
    for (std::uint64_t at = 0; at < v.size_bytes; at += element) {
        if (at > 0) out += ", ";
        std::uint64_t bits = 0;
        for (std::uint64_t i = 0; i < element; ++i)
            bits |= std::to_integer<std::uint64_t>(v.initial[at + i]) << (8 * i);
        std::string value = v.type == Type::f32   ? fmt::format("0f{:08X}", bits)
                            : v.type == Type::f64 ? fmt::format("0d{:016X}", bits)
                                                  : fmt::format("{}", bits);
        for (const Variable::Relocation& relocation : v.relocations) {
            const std::uint64_t byte = at - relocation.offset_bytes;
            if (byte >= 8) continue;
            value = relocation.generic ? "generic(" + relocation.symbol + ")" : relocation.symbol;
            if (relocation.addend != 0) value += "+" + integer(relocation.addend);
            if (element == 1) value = fmt::format("0x{:x}({})", std::uint64_t{0xff} << (8 * byte), value);
        }
        out += value;
    }
    return v.is_array ? out + "}" : " = " + out.substr(4);
}

std::string print(const Variable& v) {
    std::string out = fmt::format("{}.{} ", v.is_common ? ".common " : linkage(v), name(v.space));
    if (v.is_managed) out += ".attribute(.managed) ";
    out += fmt::format(".align {} .{} {}", v.alignment_bytes, name(v.type), v.name);
    if (v.is_array) out += v.size_bytes == 0 ? "[]" : fmt::format("[{}]", v.size_bytes / size_bytes(v.type));
    if (!v.initial.empty()) out += print_initial(v);
    return out + ";\n";
}

std::string print_head(const Function& f) {
    std::string out = linkage(f) + (f.is_entry ? ".entry " : ".func ");
    if (!f.returns.empty()) out += print_parameters(f.returns) + " ";
    out += f.name + print_parameters(f.parameters);
    if (f.max_block)
        out += fmt::format(" .maxntid {}, {}, {}", f.max_block->x, f.max_block->y, f.max_block->z);
    if (f.required_block) {
        out += fmt::format(" .reqntid {}, {}, {}", f.required_block->x, f.required_block->y,
                           f.required_block->z);
    }
    if (f.min_blocks_per_sm) out += fmt::format(" .minnctapersm {}", *f.min_blocks_per_sm);
    if (f.max_registers) out += fmt::format(" .maxnreg {}", *f.max_registers);
    return out;
}

std::string print_body(const Function& f) {
    std::string out = "{\n";
    for (RegisterIndex i = 0; i < f.registers.size(); ++i) {
        out += fmt::format(".reg .{} {};\n", name(f.registers[i].type), register_name(f, i));
    }
    for (const Variable& variable : f.variables) out += print(variable);
    for (const auto& [key, prototype] : f.call_prototypes) {
        out += key + ": .callprototype " + print_parameters(prototype.returns) + " _ " +
               print_parameters(prototype.parameters) + ";\n";
    }
    for (const auto& [key, targets] : f.branch_targets) {
        out += key + ": .branchtargets ";
        for (std::size_t i = 0; i < targets.size(); ++i)
            out += fmt::format("{}at_{}", i > 0 ? ", " : "", targets[i]);
        out += ";\n";
    }
    std::set<std::uint32_t> targets;
    for (const Instruction& instruction : f.body) {
        for (const Operand& operand : instruction.operands) {
            if (operand.kind == Operand::Kind::label) targets.insert(operand.target);
        }
    }
    for (const auto& [key, list] : f.branch_targets) targets.insert(list.begin(), list.end());
    for (std::uint32_t i = 0; i <= f.body.size(); ++i) {
        if (targets.contains(i)) out += fmt::format("at_{}:\n", i);
        if (i < f.body.size()) out += print(f.body[i], f);
    }
    return out + "}\n";
}

}  // namespace

std::string print(const Module& module) {
    std::string out = fmt::format(".version {}\n.target {}\n.address_size {}\n", module.version,
                                  module.target, module.address_bits);
    for (const Function& f : module.functions) {
        if (!f.is_entry && !f.is_extern) out += print_head(f) + ";\n";
    }
    for (const Function& f : module.functions) {
        if (f.is_extern) out += print_head(f) + ";\n";
    }
    for (const Variable& variable : module.variables) out += print(variable);
    for (const Function& f : module.functions) {
        if (!f.body.empty()) out += print_head(f) + "\n" + print_body(f);
    }
    return out;
}

}  // namespace trimtab::ptx
