// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts of C++ as far as changes in a copy of a source need them read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trimtab::wrapper {

inline constexpr std::string_view white_space = " \t\r\n";

// The end of the literal or comment that starts at `at`; `at` itself where none does.
[[nodiscard]] std::size_t skip_literal_or_comment(const std::string& text, std::size_t at);

// One past the bracket that closes the one at `open`; none where there is none.
[[nodiscard]] std::optional<std::size_t> past_bracket(std::string_view text, std::size_t open, char opens,
                                                      char closes);

// Where the declaration of the name at `at` begins, behind a template's header; none within a comment or a literal.
[[nodiscard]] std::optional<std::size_t> begin_of_declaration(const std::string& text, std::size_t at);

}  // namespace trimtab::wrapper
