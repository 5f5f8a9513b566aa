// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colours, where somebody sees them.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace trimtab::base {

enum class Colour { red = 31, yellow = 33 };

// `text` in bold and that colour where `stream` is a terminal that has colours and NO_COLOR is not set.
[[nodiscard]] inline std::string in_colour(std::FILE* stream, Colour colour, std::string_view text) {
    const char* terminal = secure_getenv("TERM");
    const char* none = secure_getenv("NO_COLOR");
    const bool shows = isatty(fileno(stream)) != 0 && terminal != nullptr &&
                       std::string_view(terminal) != "dumb" && (none == nullptr || *none == '\0');
    if (!shows) return std::string(text);
    return "\033[1;" + std::to_string(static_cast<int>(colour)) + "m" + std::string(text) + "\033[0m";
}

}  // namespace trimtab::base
