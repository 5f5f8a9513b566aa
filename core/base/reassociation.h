// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_REASSOCIATE: whether floating-point sums may be grouped otherwise than as written.
#pragma once

#include <optional>
#include <string_view>

namespace trimtab::base {

inline constexpr const char* reassociate_variable = "TRIMTAB_REASSOCIATE";

// The variable's value: 1 or 0. Nothing: it is unset, or says neither.
[[nodiscard]] inline std::optional<bool> reassociation(const char* value) {
    const std::string_view given = value == nullptr ? "" : value;
    if (given == "1") return true;
    if (given == "0") return false;
    return std::nullopt;
}

}  // namespace trimtab::base
