// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/token_stream.h"

namespace trimtab::ptx {

bool TokenStream::fail_at(const Token& token, std::string message) {
    if (error_) return false;
    if (token.kind == Token::Kind::end) message = "the text ends inside " + context;
    if (token.kind == Token::Kind::bad) message = std::string(token.text);
    error_ = Error{std::move(message), origin_, token.line, token.column};
    return false;
}

bool TokenStream::fail_expected(std::string_view what) {
    std::string found;
    for (const char c : now_.text.substr(0, 40)) {
        found += static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f ? c : '?';
    }
    return fail("expected " + std::string(what) + ", found '" + found + "'");
}

}  // namespace trimtab::ptx
