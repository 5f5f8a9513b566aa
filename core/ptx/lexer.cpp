// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/lexer.h"

#include <array>

namespace trimtab::ptx {
namespace {

enum : std::uint8_t { blank = 1, letter = 2, digit = 4, hex = 8 };

constexpr std::array<std::uint8_t, 256> character_classes = [] {
    std::array<std::uint8_t, 256> out{};
    for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) out[static_cast<unsigned char>(c)] = blank;
    for (int c = 'a'; c <= 'z'; ++c) out[static_cast<unsigned>(c)] = letter;
    for (int c = 'A'; c <= 'Z'; ++c) out[static_cast<unsigned>(c)] = letter;
    for (int c = '0'; c <= '9'; ++c) out[static_cast<unsigned>(c)] = digit | hex;
    for (int c = 'a'; c <= 'f'; ++c) out[static_cast<unsigned>(c)] |= hex;
    for (int c = 'A'; c <= 'F'; ++c) out[static_cast<unsigned>(c)] |= hex;
    out['_'] = out['$'] = letter;
    return out;
}();

bool is(char c, std::uint8_t classes) {
    return (character_classes[static_cast<unsigned char>(c)] & classes) != 0;
}

}  // namespace

void Lexer::skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
}

bool Lexer::skip_blanks(Token& token) {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++at_;
            ++line_;
            line_start_ = at_;
        } else if (is(c, blank)) {
            ++at_;
        } else if (c == '/' && text_.substr(at_, 2) == "//") {
            skip_line();
        } else if (c == '/' && text_.substr(at_, 2) == "/*") {
            token.line = line_;
            token.column = at_ - line_start_ + 1;
            token.offset = at_;
            const std::size_t end = text_.find("*/", at_ + 2);
            if (end == std::string_view::npos) {
                token.kind = Token::Kind::bad;
                token.text = "a comment has no end";
                at_ = static_cast<std::uint32_t>(text_.size());
                return false;
            }
            for (; at_ < end; ++at_) {
                if (text_[at_] != '\n') continue;
                ++line_;
                line_start_ = at_ + 1;
            }
            at_ += 2;
        } else if (c == '#' && text_.substr(line_start_, at_ - line_start_).find_first_not_of(" \t") ==
                                   std::string_view::npos) {
            skip_line();  // what a preprocessor left: # 1 "file"
        } else {
            return true;
        }
    }
    return true;
}

std::string_view Lexer::scan_word() {
    const std::uint32_t start = at_++;
    while (at_ < text_.size() && is(text_[at_], letter | digit)) ++at_;
    return text_.substr(start, at_ - start);
}

std::string_view Lexer::scan_number() {
    const std::uint32_t start = at_;
    const auto peek = [&](std::uint32_t ahead) {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    };
    // Hexadecimal digits and the letters of 0x, 0f, 0d, 0b and U; a sign only after a decimal exponent.
    const bool decimal = peek(0) != '0' || !is(peek(1), letter);
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (is(c, letter | digit)) {
            ++at_;
            if (decimal && (c == 'e' || c == 'E') && (peek(0) == '+' || peek(0) == '-') && is(peek(1), digit))
                ++at_;
        } else if (decimal && c == '.' && (is(peek(1), digit) || !is(peek(1), letter))) {
            ++at_;
        } else {
            break;
        }
    }
    return text_.substr(start, at_ - start);
}

Token Lexer::next() {
    Token token;
    if (!skip_blanks(token)) return token;
    token.line = line_;
    token.column = at_ - line_start_ + 1;
    token.offset = at_;
    if (at_ >= text_.size()) return token;
    const char c = text_[at_];
    const char after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (is(c, letter) || (c == '%' && is(after, letter))) {
        token.kind = Token::Kind::word;
        token.text = scan_word();
    } else if (is(c, digit)) {
        token.kind = Token::Kind::number;
        token.text = scan_number();
    } else if (c == '.' && is(after, letter | digit)) {
        token.kind = Token::Kind::dot_word;
        const std::uint32_t start = at_;
        (void)scan_word();
        while (at_ + 2 < text_.size() && text_[at_] == ':' && text_[at_ + 1] == ':' &&
               is(text_[at_ + 2], letter | digit)) {
            at_ += 2;
            (void)scan_word();
        }
        token.text = text_.substr(start, at_ - start);
    } else if (c == '"') {
        const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
        if (end == std::string_view::npos || text_[end] != '"') {
            token.kind = Token::Kind::bad;
            token.text = "a string has no end on its line";
            skip_line();
        } else {
            token.kind = Token::Kind::string;
            token.text = text_.substr(at_ + 1, end - at_ - 1);
            at_ = static_cast<std::uint32_t>(end + 1);
        }
    } else {
        token.kind = Token::Kind::mark;
        std::uint32_t length = 1;
        if ((c == '<' || c == '>') && (after == c || after == '=')) length = 2;
        if ((c == '=' || c == '!') && after == '=') length = 2;
        if (c == '&' && after == '&') length = 2;
        if (c == '|' && after == '|') length = 2;
        token.text = text_.substr(at_, length);
        at_ += length;
    }
    return token;
}

}  // namespace trimtab::ptx
