// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is it shown that no thread touches what another one writes (re-blocking, rule 6)?
#pragma once

#include "core/analysis/values/function_values.h"

namespace trimtab::analysis {

// True where every location written is base + stride * g + constant of one pointer, with strides so wide that
// two indices never overlap, and every other access is to the thread's own such window, its stack, or memory
// that the compiler was promised to be read-only. Anything less is no proof.
[[nodiscard]] bool is_race_free(const SymbolTable& table, const std::vector<FunctionValues>& functions,
                                const std::array<DimensionUse, 3>& dimensions);

}  // namespace trimtab::analysis
