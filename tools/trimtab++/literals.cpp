// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/literals.h"

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

}  // namespace trimtab::wrapper
