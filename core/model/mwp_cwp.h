// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "mwp-cwp": the model as first published (Hong, Kim: An Analytical Model for a GPU Architecture with Memory-level and
// Thread-level Parallelism Awareness, ISCA 2009), the kind that KLARAPTOR's driver programs have.
#pragma once

#include "core/model/rational_program.h"

namespace trimtab::model {

[[nodiscard]] RationalProgram build_mwp_cwp();

}  // namespace trimtab::model
