// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Build options as clBuildProgram takes them, in one text.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::opencl {

// Split at blanks, those in quotes aside; \" is a quote. An error: one line.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> option_words(std::string_view text);

}  // namespace trimtab::opencl
