// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/front_end/option_words.h"

namespace trimtab::opencl {

std::expected<std::vector<std::string>, std::string> option_words(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool is_in_word = false;
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
            word += text[++i];
            is_in_word = true;
        } else if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            else
                word += c;
        } else if (c == '"' || c == '\'') {
            quote = c;
            is_in_word = true;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (is_in_word) words.push_back(std::move(word));
            word.clear();
            is_in_word = false;
        } else {
            word += c;
            is_in_word = true;
        }
    }
    if (quote != '\0') return std::unexpected("the build options end within quotes");
    if (is_in_word) words.push_back(std::move(word));
    return words;
}

}  // namespace trimtab::opencl
