// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields of `ncu --csv`, read.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "trimtab/driver.h"

namespace trimtab::advice {

// Each says in words what is wrong with the field; it shows no more of it than fits a line.

// With separators of thousands; of a value with several instances ("7 (3; 4)") the sum. Nothing where ncu has none ("n/a").
[[nodiscard]] std::expected<std::optional<double>, std::string> ncu_number(std::string_view text);
// "(256, 1, 1)", or "256".
[[nodiscard]] std::expected<trimtab_dim3, std::string> ncu_size(std::string_view text);
// 75 of "7.5".
[[nodiscard]] std::expected<unsigned, std::string> ncu_capability(std::string_view text);
// As it may be printed.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace trimtab::advice
