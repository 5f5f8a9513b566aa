// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least that a model can know: sectors asked for, by whole waves. For comparison.
#pragma once

#include "core/model/rational_program.h"

namespace trimtab::model {

[[nodiscard]] RationalProgram build_sector_sum();

}  // namespace trimtab::model
