// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device descriptions compiled into the library, as text; the build writes the table.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trimtab::model {

struct BuiltinDevice {
    std::string_view slug, json;
};
// In order of slug.
[[nodiscard]] std::span<const BuiltinDevice> builtin_devices();

// What messages name in the place of a file.
[[nodiscard]] inline std::string builtin_origin(std::string_view name) {
    return std::string(name) + ".json (built in)";
}

}  // namespace trimtab::model
