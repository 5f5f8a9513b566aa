// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bit>

#include "core/ptx/names.h"
#include "core/ptx/opcodes.h"
#include "core/ptx/parser.h"
#include "core/ptx/special_registers.h"

namespace trimtab::ptx {
bool Parser::instruction() {
    Instruction made;
    made.location = location_;
    if (tokens_.now().is('@') && !guard(made)) return false;
    made.line = tokens_.now().line;
    const Mnemonic* decoded = mnemonic(made);
    if (decoded == nullptr) return false;
    selector_seen_ = false;
    bool ok = false;
    if (made.opcode == Opcode::call)
        ok = call_operands(made);
    else if (made.opcode == Opcode::bra || made.opcode == Opcode::brx)
        ok = branch_operands(made);
    else
        ok = operands(made, *decoded);
    if (!ok || !tokens_.expect(';', "',' or ';'")) return false;
    if (selector_seen_ && !info(made.opcode).has(is_video)) made.opcode = Opcode::unknown;
    function_->body.push_back(std::move(made));
    return true;
}

bool Parser::guard(Instruction& instruction) {
    tokens_.advance();
    instruction.guard_negated = tokens_.accept('!');
    const Token at = tokens_.now();
    std::string_view name;
    if (!tokens_.expect_word(name, "a predicate")) return false;
    const auto found = scopes_->find_register(name);
    if (!found) return tokens_.fail_at(at, "register '" + std::string(name) + "' is not declared");
    instruction.guard = found->first;
    return true;
}

const Mnemonic* Parser::mnemonic(Instruction& instruction) {
    const Token first = tokens_.now();
    std::string_view word;
    if (!tokens_.expect_word(word, "an instruction")) return nullptr;
    std::size_t end = first.offset + first.text.size();
    std::string apart;  // where blanks stand between the parts
    while (tokens_.now().kind == Token::Kind::dot_word) {
        if (apart.empty() && tokens_.now().offset != end)
            apart = tokens_.text().substr(first.offset, end - first.offset);
        if (!apart.empty()) apart += tokens_.now().text;
        end = tokens_.now().offset + tokens_.now().text.size();
        tokens_.advance();
    }
    const std::string_view written = tokens_.text().substr(first.offset, end - first.offset);
    std::unique_ptr<Mnemonic>& decoded = mnemonics_[written];
    if (decoded == nullptr)
        decoded = std::make_unique<Mnemonic>(decode_mnemonic(apart.empty() ? written : apart));
    instruction.opcode = decoded->opcode;
    instruction.type = decoded->type;
    instruction.source_type = decoded->source_type;
    instruction.modifiers = decoded->modifiers;
    instruction.suffixes = decoded->suffixes;
    instruction.mnemonic = apart.empty() ? written : apart;
    return decoded.get();
}

bool Parser::operands(Instruction& instruction, const Mnemonic& mnemonic) {
    bool paired = false;
    if (!tokens_.now().is(';')) {
        do {
            Operand& made = instruction.operands.emplace_back();
            if (!operand(made, instruction)) return false;
            if (instruction.operands.size() == 1 && tokens_.accept('|')) {
                paired = true;
                if (!operand(instruction.operands.emplace_back(), instruction)) return false;
            }
        } while (tokens_.accept(','));
    }
    instruction.destination_count = count_destinations(mnemonic, instruction.operands, paired);
    return true;
}

// bra L;    brx.idx %r1, table;
bool Parser::branch_operands(Instruction& instruction) {
    if (instruction.opcode == Opcode::brx) {
        if (!operand(instruction.operands.emplace_back(), instruction)) return false;
        if (!tokens_.expect(',', "',' and a list of branch targets")) return false;
        const Token at = tokens_.now();
        std::string_view name;
        if (!tokens_.expect_word(name, "a list of branch targets")) return false;
        const std::string* table = scopes_->find_variable(name);
        if (table == nullptr || !function_->branch_targets.contains(*table)) {
            return tokens_.fail_at(at, "'" + std::string(name) + "' is no list of branch targets");
        }
        Operand& list = instruction.operands.emplace_back();
        list.kind = Operand::Kind::label;
        list.text = *table;
        return true;
    }
    const Token at = tokens_.now();
    std::string_view name;
    if (!tokens_.expect_word(name, "a label")) return false;
    Operand& target = instruction.operands.emplace_back();
    target.kind = Operand::Kind::label;
    target.text = name;
    scopes_->wait_for_label({at, static_cast<std::uint32_t>(function_->body.size())});
    return true;
}

// call.uni (result), f, (argument, argument), prototype;
bool Parser::call_operands(Instruction& instruction) {
    std::vector<Operand>& out = instruction.operands;
    if (tokens_.now().is('(')) {
        if (!argument_list(out) || !tokens_.expect(',', "',' and the function")) return false;
        if (out.size() > 255) return tokens_.fail("a call with more than 255 results");
        instruction.destination_count = static_cast<std::uint8_t>(out.size());
    }
    const Token at = tokens_.now();
    std::string_view name;
    if (!tokens_.expect_word(name, "a function")) return false;
    Operand& target = out.emplace_back();
    if (const auto found = scopes_->find_register(name)) {
        target.kind = Operand::Kind::reg;
        target.reg = found->first;
        target.type = function_->registers[found->first].type;
    } else if (function_names_.contains(name)) {
        target.kind = Operand::Kind::symbol;
        target.text = name;
    } else {
        return tokens_.fail_at(at, "function '" + std::string(name) + "' is not declared");
    }
    if (!tokens_.accept(',')) return true;
    if (tokens_.now().is('(')) {
        if (!argument_list(out)) return false;
        if (!tokens_.accept(',')) return true;
    }
    const Token list_at = tokens_.now();
    if (!tokens_.expect_word(name, "a prototype")) return false;
    const std::string* list = scopes_->find_variable(name);
    if (list == nullptr ||
        !(function_->call_prototypes.contains(*list) || function_->call_targets.contains(*list))) {
        return tokens_.fail_at(list_at,
                               "'" + std::string(name) + "' is no prototype and no list of functions");
    }
    Operand& prototype = out.emplace_back();
    prototype.kind = Operand::Kind::label;
    prototype.text = *list;
    return true;
}

bool Parser::argument_list(std::vector<Operand>& out) {
    if (!tokens_.expect('(', "'('")) return false;
    if (tokens_.accept(')')) return true;
    const Instruction plain;
    do {
        if (!simple_operand(out.emplace_back(), plain)) return false;
    } while (tokens_.accept(','));
    return tokens_.expect(')', "')' of the arguments");
}

bool Parser::operand(Operand& out, const Instruction& instruction) {
    if (tokens_.now().is('[')) return address_operand(out, instruction);
    if (!tokens_.accept('{')) return simple_operand(out, instruction);
    out.kind = Operand::Kind::vector;
    do {
        if (!simple_operand(out.elements.emplace_back(), instruction)) return false;
    } while (tokens_.accept(','));
    return tokens_.expect('}', "'}' of a vector");
}

bool Parser::simple_operand(Operand& out, const Instruction& instruction) {
    if (tokens_.now().is('!')) {
        if (tokens_.ahead().kind == Token::Kind::word) {
            tokens_.advance();
            out.negated = true;
            return named_operand(out, instruction);
        }
        return immediate(out, instruction);
    }
    if (tokens_.now().is("WARP_SZ") && tokens_.ahead().kind == Token::Kind::mark &&
        !std::string_view(",;)]}").contains(tokens_.ahead().text)) {
        return immediate(out, instruction);  // part of an expression
    }
    if (tokens_.now().kind == Token::Kind::word) return named_operand(out, instruction);
    if (tokens_.now().is('-') && tokens_.ahead().kind == Token::Kind::word &&
        !tokens_.ahead().is("WARP_SZ")) {
        // Video instructions negate an operand: -%r1. No one may miss the sign.
        tokens_.advance();
        selector_seen_ = true;
        out.negated = true;
        return named_operand(out, instruction);
    }
    if (starts_constant(tokens_.now())) return immediate(out, instruction);
    return tokens_.fail_expected("an operand");
}

bool Parser::immediate(Operand& out, const Instruction& instruction) {
    Constant value;
    if (!parse_constant(tokens_, value)) return false;
    // A decimal literal is an f64; where the instruction works on f32 that is what it stands for.
    const Type wanted = instruction.source_type != Type::none ? instruction.source_type : instruction.type;
    if (wanted == Type::f32) value = value.as_f32();
    if (wanted == Type::f64) value = value.as_f64();
    out.kind = Operand::Kind::immediate;
    out.bits = value.bits;
    switch (value.kind) {
        case Constant::Kind::s64:
            out.type = Type::s64;
            break;
        case Constant::Kind::u64:
            out.type = Type::u64;
            break;
        case Constant::Kind::f32:
            out.type = Type::f32;
            break;
        case Constant::Kind::f64:
            out.type = Type::f64;
            break;
    }
    return true;
}

bool Parser::known_symbol(std::string_view name, std::string& final_name) const {
    if (const std::string* own = scopes_->find_variable(name)) {
        final_name = *own;
        return true;
    }
    final_name = name;
    return has_parameter(*function_, name) || variable_names_.contains(name) ||
           function_names_.contains(name);
}

bool Parser::named_operand(Operand& out, const Instruction& instruction) {
    const Token at = tokens_.now();
    tokens_.advance();
    if (at.text == "_") {
        out.kind = Operand::Kind::sink;
        return true;
    }
    std::string_view component;
    if (tokens_.now().kind == Token::Kind::dot_word) {
        component = tokens_.now().text;
        tokens_.advance();
    }
    if (const auto found = scopes_->find_register(at.text)) {
        const Type type = function_->registers[found->first].type;
        if (found->width > 1 && component.empty()) {
            out.kind = Operand::Kind::vector;
            for (std::uint8_t i = 0; i < found->width; ++i) {
                Operand& element = out.elements.emplace_back();
                element.kind = Operand::Kind::reg;
                element.reg = found->first + i;
                element.type = type;
            }
            return true;
        }
        out.kind = Operand::Kind::reg;
        out.reg = found->first;
        out.type = type;
        if (component.empty()) return true;
        if (found->width == 1) {
            // .b0 to .h1 pick a part of a video instruction's operand. No one may miss that.
            selector_seen_ = true;
            out.text = component.substr(1);
            return true;
        }
        const std::string_view letters = component.size() == 2 ? component.substr(1) : "?";
        std::size_t place = std::string_view("xyzw").find(letters);
        if (place == std::string_view::npos) place = std::string_view("rgba").find(letters);
        if (place >= found->width)
            return tokens_.fail_at(at, "register '" + std::string(at.text) + "' has no such component");
        out.reg += static_cast<RegisterIndex>(place);
        return true;
    }
    const std::string whole = std::string(at.text) + std::string(component);
    if (const auto special = find_special_register(whole)) {
        out.kind = Operand::Kind::special;
        out.special = *special;
        out.type = info(*special).type;
        out.text = whole;
        return true;
    }
    if (!component.empty() || at.text.starts_with('%')) {
        return tokens_.fail_at(at, "register '" + whole + "' is not declared");
    }
    out.kind = Operand::Kind::symbol;
    if (!known_symbol(at.text, out.text) && instruction.opcode != Opcode::unknown) {
        return tokens_.fail_at(at, "'" + std::string(at.text.substr(0, 80)) + "' is not declared");
    }
    if (tokens_.now().is('+') || tokens_.now().is('-')) {
        Constant offset;
        if (!parse_constant(tokens_, offset)) return false;
        if (!offset.is_integer()) return tokens_.fail_at(at, "an address with a fraction");
        out.offset = static_cast<std::int64_t>(offset.bits);
    }
    return true;
}

// [%rd1], [%rd1+-4], [name+8], [16], [texture, {%r1, %r2}], [texture, sampler, {%f1}]
bool Parser::address_operand(Operand& out, const Instruction& instruction) {
    tokens_.advance();
    if (tokens_.now().kind == Token::Kind::word) {
        const Token at = tokens_.now();
        Operand base;
        if (!named_operand(base, instruction)) return false;
        if (base.kind != Operand::Kind::reg && base.kind != Operand::Kind::symbol) {
            return tokens_.fail_at(at, "'" + std::string(at.text.substr(0, 80)) + "' is no address");
        }
        out.reg = base.reg;
        out.type = base.type;
        out.offset = base.offset;
        out.text = std::move(base.text);
        if (tokens_.now().is('+') || tokens_.now().is('-')) {
            Constant offset;
            if (!parse_constant(tokens_, offset)) return false;
            if (!offset.is_integer()) return tokens_.fail_at(at, "an address with a fraction");
            out.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(out.offset) + offset.bits);
        }
    } else {
        Constant value;
        if (!parse_constant(tokens_, value)) return false;
        if (!value.is_integer()) return tokens_.fail("an address with a fraction");
        out.bits = value.bits;
    }
    out.kind = Operand::Kind::address;
    while (tokens_.accept(',')) {
        Operand coordinates;
        if (!operand(coordinates, instruction)) return false;
        if (coordinates.kind == Operand::Kind::vector) {
            for (Operand& element : coordinates.elements) out.elements.push_back(std::move(element));
        } else {
            out.elements.push_back(std::move(coordinates));
        }
    }
    return tokens_.expect(']', "']'");
}

}  // namespace trimtab::ptx
