// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPUPerf's MWP-CWP model as a rational program.
#pragma once

#include "core/model/rational_program.h"

namespace trimtab::model {

[[nodiscard]] RationalProgram build_gpuperf();

}  // namespace trimtab::model
