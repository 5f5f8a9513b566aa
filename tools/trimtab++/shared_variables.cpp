// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/shared_variables.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "tools/trimtab++/source_text.h"
#include "tools/trimtab++/word.h"

namespace trimtab::wrapper {
namespace {

constexpr std::string_view keyword = "__shared__";

bool is_space(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// The end of the alignment or storage class that `text` begins with; 0 where it begins with none.
std::size_t specifier_length(std::string_view text) {
    for (const std::string_view word : {"alignas", "__align__", "__attribute__"}) {
        if (!text.starts_with(word)) continue;
        std::size_t at = word.size();
        while (at < text.size() && is_space(text[at])) ++at;
        int depth = 0;
        for (; at < text.size(); ++at) {
            if (text[at] == '(') ++depth;
            if (text[at] == ')' && --depth == 0) return at + 1;
            if (depth == 0) return 0;
        }
    }
    constexpr std::string_view storage = "static";
    return text.starts_with(storage) && text.size() > storage.size() && is_space(text[storage.size()])
               ? storage.size()
               : 0;
}

struct Declarator {
    std::string_view name;
    std::string_view dimensions;
};

struct Declaration {
    std::string_view specifiers;  // what comes before the type
    std::string_view type;
    std::vector<Declarator> declarators;
};

std::optional<Declarator> read_declarator(std::string_view text) {
    text = trimmed(text);
    std::size_t end = 0;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view dimensions = trimmed(text.substr(end));
    if (end == 0 || (!dimensions.empty() && (dimensions.front() != '[' || dimensions.back() != ']')))
        return std::nullopt;
    return Declarator{text.substr(0, end), dimensions};
}

// What stands between __shared__ and ';'. None for what has an initialiser, a pointer's or reference's
// declarator, or the body of a class.
std::optional<Declaration> read_declaration(std::string_view text) {
    if (text.find_first_of("={}&*\"#/") != std::string_view::npos) return std::nullopt;
    Declaration result;
    std::size_t at = 0;
    for (;;) {
        while (at < text.size() && is_space(text[at])) ++at;
        const std::size_t length = specifier_length(text.substr(at));
        if (length == 0) break;
        at += length;
    }
    result.specifiers = trimmed(text.substr(0, at));
    text.remove_prefix(at);

    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '<' || c == '(' || c == '[') ++depth;
        if (c == '>' || c == ')' || c == ']') --depth;
        if (c != ',' || depth != 0) continue;
        parts.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    parts.push_back(text.substr(begin));

    // The first part is the type and a declarator, whose name is the last word outside brackets.
    const std::string_view first = trimmed(parts.front());
    std::size_t end = first.size();
    while (end > 0 && first[end - 1] == ']') {
        for (int open = 0; end > 0;) {
            --end;
            if (first[end] == ']') ++open;
            if (first[end] == '[' && --open == 0) break;
        }
        while (end > 0 && is_space(first[end - 1])) --end;
    }
    while (end > 0 && is_word(first[end - 1])) --end;
    result.type = trimmed(first.substr(0, end));
    parts.front() = first.substr(end);
    if (result.type.empty()) return std::nullopt;
    for (const std::string_view part : parts) {
        const auto declarator = read_declarator(part);
        if (!declarator) return std::nullopt;
        result.declarators.push_back(*declarator);
    }
    return result;
}

// The same declaration with the same line ends.
std::string rewritten(const Declaration& declaration, std::string_view original, std::string_view word) {
    std::string text;
    for (const Declarator& declarator : declaration.declarators) {
        const std::string storage = "trimtab_storage_of_" + std::string(declarator.name);
        if (!text.empty()) text += ' ';
        text += std::string(word) + ' ' + std::string(declaration.specifiers) + " trimtab_unconstructed<" +
                std::string(declaration.type) + ' ' + std::string(declarator.dimensions) + "> " + storage +
                "; auto& " + std::string(declarator.name) + " = " + storage + ".value;";
    }
    std::ranges::replace(text, '\n', ' ');
    return text + std::string(static_cast<std::size_t>(std::ranges::count(original, '\n')), '\n');
}

}  // namespace

std::optional<std::string> with_unconstructed_variables(const std::string& text,
                                                        const std::vector<SourcePlace>& places) {
    const std::vector<std::size_t> lines = line_begins(text);
    std::set<std::pair<std::size_t, std::size_t>> declarations;  // from the keyword to past the ';'
    for (const SourcePlace& place : places) {
        if (place.line == 0 || place.line > lines.size()) return std::nullopt;
        const std::size_t at = lines[place.line - 1] + place.column - 1;
        // Where the line does not say it, a macro at the declaration's begin does.
        const auto statement = begin_of_declaration(text, at);
        const std::size_t said = text.rfind(keyword, at), end = text.find(';', at);
        const bool is_said = said != std::string::npos && (!statement || said >= *statement);
        if ((!is_said && !statement) || end == std::string::npos) return std::nullopt;
        const std::size_t begin = is_said ? said : *statement;
        declarations.emplace(begin, end + 1);
    }
    std::string changed = text;
    for (auto range = declarations.rbegin(); range != declarations.rend(); ++range) {
        const auto [begin, end] = *range;
        const std::string_view original = std::string_view(text).substr(begin, end - begin);
        std::size_t word_end = 0;
        while (word_end < original.size() && is_word(original[word_end])) ++word_end;
        const std::string_view word = original.substr(0, word_end),
                               inside = original.substr(word_end, original.size() - word_end - 1);
        const auto declaration = read_declaration(inside);
        if (!declaration) return std::nullopt;
        changed.replace(begin, end - begin, rewritten(*declaration, original, word));
    }
    return changed;
}

}  // namespace trimtab::wrapper
