// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions as part of a JSON document.
#pragma once

#include "core/analysis/launches/expression.h"
#include "core/base/json_value.h"

namespace trimtab::analysis {

// Throws base::Malformed.
[[nodiscard]] Expression expression_from(const base::JsonValue& json);

}  // namespace trimtab::analysis
