// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cctype>

namespace trimtab::wrapper {

// Of a name of C++.
[[nodiscard]] inline bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace trimtab::wrapper
