// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parts of the parser share: the token under the cursor, one token of foresight, and the first
// error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/ptx/lexer.h"
#include "trimtab/error.h"

namespace trimtab::ptx {

class TokenStream {
  public:
    TokenStream(std::string_view text, std::string origin) : lexer_(text), origin_(std::move(origin)) {
        now_ = lexer_.next();
    }

    [[nodiscard]] const Token& now() const { return now_; }
    [[nodiscard]] const Token& ahead() {
        if (!ahead_) ahead_ = lexer_.next();
        return *ahead_;
    }
    void advance() {
        if (ahead_) {
            now_ = *ahead_;
            ahead_.reset();
        } else {
            now_ = lexer_.next();
        }
    }
    [[nodiscard]] std::string_view text() const { return lexer_.text(); }
    [[nodiscard]] bool at_end() const { return now_.kind == Token::Kind::end; }

    template <class Spelling>
    [[nodiscard]] bool accept(Spelling spelling) {
        if (!now_.is(spelling)) return false;
        advance();
        return true;
    }
    // `what` completes "expected ..." in the error.
    template <class Spelling>
    [[nodiscard]] bool expect(Spelling spelling, std::string_view what) {
        return accept(spelling) || fail_expected(what);
    }
    // An identifier, which is taken.
    [[nodiscard]] bool expect_word(std::string_view& word, std::string_view what) {
        if (now_.kind != Token::Kind::word) return fail_expected(what);
        word = now_.text;
        advance();
        return true;
    }

    // Records the first error and returns false. Past the end or at a bad token, that is the error.
    bool fail(std::string message) { return fail_at(now_, std::move(message)); }
    bool fail_at(const Token& token, std::string message);
    bool fail_expected(std::string_view what);
    [[nodiscard]] bool failed() const { return error_.has_value(); }
    [[nodiscard]] const std::optional<Error>& error() const { return error_; }

    // What the text ends inside of, if it ends here: "kernel f".
    std::string context = "a declaration";

  private:
    Lexer lexer_;
    Token now_;
    std::optional<Token> ahead_;
    std::string origin_;
    std::optional<Error> error_;
};

}  // namespace trimtab::ptx
