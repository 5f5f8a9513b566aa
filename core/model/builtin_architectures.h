// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The architecture descriptions compiled into the library, as text; the build writes the table.
#pragma once

#include <span>
#include <string_view>

namespace trimtab::model {

struct BuiltinArchitecture {
    std::string_view name, json;
};
// In order of name.
[[nodiscard]] std::span<const BuiltinArchitecture> builtin_architectures();

}  // namespace trimtab::model
