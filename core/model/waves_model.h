// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// "waves": a model of ours after GPUPerf's MWP-CWP, for devices with caches and launches of any size.
#pragma once

#include "core/model/rational_program.h"

namespace trimtab::model {

[[nodiscard]] RationalProgram build_waves_model();

}  // namespace trimtab::model
