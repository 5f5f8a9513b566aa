// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As much of JSON Schema as docs/description.schema.json uses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trimtab::analysis::test {

// "" where `value` fits, else where and why it does not.
[[nodiscard]] std::string schema_fault(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace trimtab::analysis::test
