// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/model_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace trimtab::model {

namespace {

using Kind = ModelWord::Kind;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Longer signs first.
constexpr std::array<std::string_view, 17> signs = {"<=", ">=", "==", "!=", "&&", "||", "+", "-", "*",
                                                    "/",  "(",  ")",  ",",  "<",  ">",  "!", "="};

std::size_t name_length(std::string_view text) {
    const auto end =
        std::ranges::find_if(text, [](char c) { return !is_letter(c) && !is_digit(c) && c != '.'; });
    return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

std::expected<std::vector<ModelWord>, Error> model_words(std::string_view text, const std::string& origin) {
    std::vector<ModelWord> words;
    std::uint32_t line = 0;
    const auto end_statement = [&] {
        if (!words.empty() && words.back().kind != Kind::end_of_statement)
            words.push_back(
                {.kind = Kind::end_of_statement,
                 .text = {},
                 .line = words.back().line,
                 .column = words.back().column + static_cast<std::uint32_t>(words.back().text.size())});
    };
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t length = std::min(rest.find('\n'), rest.size());
        std::string_view row = rest.substr(0, length);
        rest.remove_prefix(std::min(length + 1, rest.size()));
        ++line;
        if (row.ends_with('\r')) row.remove_suffix(1);
        row = row.substr(0, row.find('#'));
        const bool is_blank = row.find_first_not_of(" \t") == std::string_view::npos;
        if (is_blank) continue;
        if (row.front() != ' ' && row.front() != '\t') end_statement();
        for (std::size_t at = 0; at < row.size();) {
            if (row[at] == ' ' || row[at] == '\t') {
                ++at;
                continue;
            }
            ModelWord word{.text = {}, .line = line, .column = static_cast<std::uint32_t>(at + 1)};
            const std::string_view here = row.substr(at);
            std::size_t taken = 0;
            if (is_letter(here.front())) {
                word.kind = Kind::name;
                taken = name_length(here);
            } else if (is_digit(here.front()) || here.front() == '.') {
                word.kind = Kind::number;
                const auto [end, error] =
                    std::from_chars(here.data(), here.data() + here.size(), word.number);
                taken = static_cast<std::size_t>(end - here.data());
                if (error != std::errc{} || !std::isfinite(word.number))
                    return std::unexpected(Error{"no number", origin, line, word.column});
            } else {
                const auto sign =
                    std::ranges::find_if(signs, [&](std::string_view one) { return here.starts_with(one); });
                if (sign == signs.end())
                    return std::unexpected(Error{fmt::format("'{}' is no part of a model", here.front()),
                                                 origin, line, word.column});
                word.kind = Kind::sign;
                taken = sign->size();
            }
            word.text = here.substr(0, taken);
            words.push_back(word);
            at += taken;
        }
    }
    end_statement();
    words.push_back({.kind = Kind::end, .text = {}, .line = std::max(line, 1U), .column = 1});
    return words;
}

}  // namespace trimtab::model
