// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace trimtab::wrapper {

// Of C++: the end of the literal or comment that starts at `at`; `at` itself where none does.
[[nodiscard]] std::size_t skip_literal_or_comment(const std::string& text, std::size_t at);

}  // namespace trimtab::wrapper
