// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The MWP-CWP model as first published (Hong, Kim: An Analytical Model for a GPU Architecture with
// Memory-level and Thread-level Parallelism Awareness, ISCA 2009), for comparison.
#pragma once

#include "core/model/rational_program.h"

namespace trimtab::model {

[[nodiscard]] RationalProgram build_hong_kim();

}  // namespace trimtab::model
