// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/c_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace trimtab::driver_gen {

namespace {

constexpr std::size_t line_length = 100;

constexpr std::array<std::string_view, 37> keywords{
    "auto",     "break",  "case",   "char",     "const",    "continue", "default",  "do",
    "double",   "else",   "enum",   "extern",   "float",    "for",      "goto",     "if",
    "inline",   "int",    "long",   "register", "restrict", "return",   "short",    "signed",
    "sizeof",   "static", "struct", "switch",   "typedef",  "union",    "unsigned", "void",
    "volatile", "while",  "asm",    "typeof",   "main"};

// Words of `text`, broken so that no line is longer than it need be.
std::string broken(std::string_view text, std::string_view first, std::string_view next) {
    std::string out(first);
    std::size_t column = first.size();
    bool fresh = true;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = text.find(' ', at);
        if (end == std::string_view::npos) end = text.size();
        const std::string_view word = text.substr(at, end - at);
        if (!fresh && column + 1 + word.size() > line_length) {
            out += '\n';
            out += next;
            column = next.size();
            fresh = true;
        }
        if (!fresh) {
            out += ' ';
            ++column;
        }
        out += word;
        column += word.size();
        fresh = false;
        at = end + 1;
    }
    return out;
}

}  // namespace

std::string c_literal(double value) {
    if (std::isnan(value)) return "__builtin_nan(\"\")";
    if (std::isinf(value)) return value > 0 ? "__builtin_inf()" : "(-__builtin_inf())";
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return value < 0 ? "(" + text + ")" : text;
}

std::string c_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", c);
        else if (byte >= 0x20 && byte < 0x7f && c != '?')
            out += c;
        else
            out += fmt::format("\\{:03o}", byte);
    }
    return out + "\"";
}

std::string c_comment_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool joins =
            !out.empty() && ((out.back() == '*' && c == '/') || (out.back() == '/' && c == '*'));
        if (joins) out += ' ';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

std::string c_comment(std::string_view text, std::string_view indent) {
    return broken(c_comment_text(text), std::string(indent) + "/* ", std::string(indent) + "   ") + " */";
}

std::string c_wrapped(std::string_view statement, std::string_view indent) {
    return broken(statement, indent, std::string(indent) + "        ");
}

std::string CNames::unique(std::string_view wanted) {
    std::string name;
    for (const char c : wanted) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (plain)
            name += c;
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "v");
    const auto is_taken = [&](const std::string& candidate) {
        return std::ranges::find(keywords, candidate) != keywords.end() ||
               std::ranges::find(taken_, candidate) != taken_.end();
    };
    std::string candidate = name;
    for (int n = 2; is_taken(candidate); ++n) candidate = fmt::format("{}_{}", name, n);
    taken_.push_back(candidate);
    return candidate;
}

}  // namespace trimtab::driver_gen
