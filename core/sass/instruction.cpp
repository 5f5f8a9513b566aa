// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/instruction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace trimtab::sass {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

// At commas outside of brackets.
std::vector<std::string_view> split_operands(std::string_view text) {
    std::vector<std::string_view> out;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size()) {
            const char c = text[i];
            if (c == '[' || c == '(' || c == '{') ++depth;
            if (c == ']' || c == ')' || c == '}') --depth;
            if (c != ',' || depth != 0) continue;
        }
        if (const auto operand = trimmed(text.substr(begin, i - begin)); !operand.empty())
            out.push_back(operand);
        begin = i + 1;
    }
    return out;
}

std::unexpected<Error> bad(std::string_view what, std::string_view text) {
    return std::unexpected(Error{.message = fmt::format("{} in '{}'", what, text.substr(0, 120))});
}

bool is_opcode(std::string_view text) {
    return !text.empty() && text[0] >= 'A' && text[0] <= 'Z' &&
           std::ranges::all_of(text, [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '&' || c == '=';
           });
}

std::expected<Guard, Error> read_guard(std::string_view text) {
    Guard guard{.is_there = true};
    std::string_view name = text.substr(1);
    if (name.starts_with('!')) {
        guard.negated = true;
        name.remove_prefix(1);
    }
    guard.reg.file = name.starts_with('U') ? RegisterFile::uniform_predicate : RegisterFile::predicate;
    if (name.starts_with('U')) name.remove_prefix(1);
    if (name == "PT") {
        guard.reg.count = 0;
        return guard;
    }
    if (name.size() != 2 || name[0] != 'P' || name[1] < '0' || name[1] > '7')
        return bad("no predicate", text);
    guard.reg.first = static_cast<std::uint16_t>(name[1] - '0');
    return guard;
}

}  // namespace

std::string_view name(RegisterFile file) {
    constexpr std::array<std::string_view, 4> names{"general", "predicate", "uniform", "uniform_predicate"};
    return names[static_cast<std::size_t>(file)];
}

bool Instruction::has_modifier(std::string_view modifier) const {
    std::string_view rest = opcode;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
        rest.remove_prefix(dot + 1);
        if (rest.substr(0, rest.find('.')) == modifier) return true;
    }
    return false;
}

std::string Instruction::text() const {
    std::string out;
    if (guard.is_there) {
        const bool uniform = guard.reg.file == RegisterFile::uniform_predicate;
        out = fmt::format("@{}{}P{} ", guard.negated ? "!" : "", uniform ? "U" : "",
                          guard.reg.count == 0 ? "T" : std::to_string(guard.reg.first));
    }
    out += opcode;
    if (!operands.empty()) out += fmt::format(" {}", fmt::join(operands, ", "));
    return out;
}

std::expected<Instruction, Error> read_instruction(std::string_view text) {
    const std::string_view whole = text = trimmed(text);
    Instruction out;
    if (text.starts_with('@')) {
        const std::size_t space = std::min(text.find(' '), text.size());
        const auto guard = read_guard(text.substr(0, space));
        if (!guard) return std::unexpected(guard.error());
        out.guard = *guard;
        text = trimmed(text.substr(space));
    }
    const std::size_t space = std::min(text.find(' '), text.size());
    out.opcode = text.substr(0, space);
    if (!is_opcode(out.opcode)) return bad("no opcode", whole);
    for (std::string_view operand : split_operands(text.substr(space))) {
        constexpr std::string_view reuse = ".reuse";
        std::string kept(operand);
        if (const std::size_t at = kept.find(reuse); at != std::string::npos) {
            kept.erase(at, reuse.size());
            ++out.reused_operands;
        }
        out.operands.push_back(std::move(kept));
    }
    out.info = opcode_info(out.opcode);
    find_registers(out);
    return out;
}

}  // namespace trimtab::sass
