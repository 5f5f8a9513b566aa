// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole numbers that a table's columns make: "ceil_div(4096, block_size_x * tile_size_x)".
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trimtab::bench {

// A name's value; nullopt: there is no such name.
using Lookup = std::function<std::optional<std::int64_t>(std::string_view)>;

// Sums, differences, products and quotients (rounded down) of integers, names and ceil_div(a, b), with
// parentheses. The error says what is wrong with the text.
[[nodiscard]] std::expected<std::int64_t, std::string> evaluate_expression(std::string_view text,
                                                                           const Lookup& lookup);

}  // namespace trimtab::bench
