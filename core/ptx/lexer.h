// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text as tokens. Views point into the text, which must outlive them.
#pragma once

#include <cstdint>
#include <string_view>

namespace trimtab::ptx {

struct Token {
    enum class Kind : std::uint8_t {
        end,
        word,      // an identifier or register, without components: "%tid", "$L__BB0_1", "ld"
        dot_word,  // ".x", ".global", ".shared::cta", with its dot
        number,    // integer or floating-point, as written
        string,    // without its quotes
        mark,      // one character, or one of << >> <= >= == != && ||
        bad        // `text` says what is wrong
    };
    Kind kind = Kind::end;
    std::string_view text;
    std::uint32_t line = 1, column = 1;
    std::uint32_t offset = 0;  // of its first byte in the text

    [[nodiscard]] bool is(char mark) const {
        return kind == Kind::mark && text.size() == 1 && text[0] == mark;
    }
    [[nodiscard]] bool is(std::string_view spelling) const {
        return (kind == Kind::word || kind == Kind::dot_word || kind == Kind::mark) && text == spelling;
    }
};

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    [[nodiscard]] Token next();
    [[nodiscard]] std::string_view text() const { return text_; }
    // Leaves the rest of the present line out.
    void skip_line();

  private:
    bool skip_blanks(Token& token);  // false: a comment has no end, and `token` says so
    [[nodiscard]] std::string_view scan_word();
    [[nodiscard]] std::string_view scan_number();

    std::string_view text_;
    std::uint32_t at_ = 0, line_ = 1, line_start_ = 0;
};

}  // namespace trimtab::ptx
