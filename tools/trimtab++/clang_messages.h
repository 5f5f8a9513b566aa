// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where clang's messages point to.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::wrapper {

// Counted from 1, as compilers do; the column in bytes.
struct SourcePlace {
    std::size_t line = 0;
    std::size_t column = 0;
    auto operator<=>(const SourcePlace&) const = default;
};

// By canonical path.
using PlacesByFile = std::map<std::string, std::vector<SourcePlace>>;

// An error, a warning or a note that names a place in a file that is there.
struct ClangMessage {
    std::string path;  // canonical
    SourcePlace place;
    std::string text;  // "error: ..."
};

[[nodiscard]] std::vector<ClangMessage> placed_messages(const std::string& messages);

// Where each line of a text begins.
[[nodiscard]] std::vector<std::size_t> line_begins(std::string_view text);

}  // namespace trimtab::wrapper
