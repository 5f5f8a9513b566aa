// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Man pages, and the words of shells' completions, from what a program knows of its own options.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::manual {

struct Entry {
    std::string term;  // "--device NAME"
    std::string text;
};

struct Section {
    std::string title;  // "OPTIONS"
    std::string text;
    std::vector<Entry> entries;
};

struct Page {
    std::string name;  // "trimtab-run"
    std::string summary;
    std::vector<std::string> synopsis;
    std::vector<Section> sections;
};

// The page in man(7)'s language, section 1. `version`: "trimtab 0.1.0".
[[nodiscard]] std::string roff(const Page& page, std::string_view version);

// One specification of zsh's _arguments. `name` may end in '='; `value` is empty where there is none.
[[nodiscard]] std::string zsh_option(std::string_view name, std::string_view help, std::string_view value);

// Folders that are missing are made.
[[nodiscard]] std::expected<void, Error> write_file(const std::string& path, std::string_view text);

}  // namespace trimtab::manual
