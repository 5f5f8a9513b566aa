// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/source_text.h"

#include <algorithm>

#include "tools/trimtab++/word.h"

namespace trimtab::wrapper {

std::size_t skip_literal_or_comment(const std::string& text, std::size_t at) {
    if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
    if (text.compare(at, 2, "/*") == 0) {
        const std::size_t end = text.find("*/", at + 2);
        return end == std::string::npos ? text.size() : end + 2;
    }
    const char quote = text[at];
    // An apostrophe inside a number (1'000) starts nothing.
    if (quote != '"' && (quote != '\'' || (at > 0 && is_word(text[at - 1])))) return at;
    for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
        if (text[i] == '\\')
            ++i;
        else if (text[i] == quote)
            return i + 1;
    }
    return at + 1;
}

std::optional<std::size_t> past_bracket(std::string_view text, std::size_t open, char opens, char closes) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        depth += text[at] == opens ? 1 : text[at] == closes ? -1 : 0;
        if (depth == 0) return at + 1;
    }
    return std::nullopt;
}

std::optional<std::size_t> begin_of_declaration(const std::string& text, std::size_t at) {
    if (at >= text.size()) return std::nullopt;
    std::size_t begin = 0;
    bool is_at_line_begin = true;
    for (std::size_t i = 0; i < at;) {
        const std::size_t end = skip_literal_or_comment(text, i);
        if (end > i) {
            if (end > at) return std::nullopt;
            if (begin == i) begin = end;
            i = end;
            continue;
        }
        if (text[i] == '#' && is_at_line_begin) {
            i = std::min(text.find('\n', i), text.size());
            begin = i;
            continue;
        }
        const bool is_white = white_space.contains(text[i]);
        is_at_line_begin = text[i] == '\n' || (is_at_line_begin && is_white);
        const bool ends = text[i] == ';' || text[i] == '{' || text[i] == '}';
        ++i;
        if (ends || (is_white && begin == i - 1)) begin = i;
    }
    for (const std::string_view label : {"public", "protected", "private"}) {
        const std::size_t colon = text.find_first_not_of(white_space, begin + label.size());
        if (text.compare(begin, label.size(), label) == 0 && colon < at && text[colon] == ':')
            begin = text.find_first_not_of(white_space, colon + 1);
    }
    while (begin < at && text.compare(begin, 8, "template") == 0) {
        const std::size_t open = text.find('<', begin);
        const auto past = open < at ? past_bracket(text, open, '<', '>') : std::nullopt;
        if (!past) return std::nullopt;
        begin = text.find_first_not_of(white_space, *past);
    }
    return begin <= at ? std::optional(begin) : std::nullopt;
}

}  // namespace trimtab::wrapper
