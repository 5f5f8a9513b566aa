// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPUPerf's equations (gpuperf_equations.h) on the low-level metrics, with miss ratios from footprints. time_ns is T_exec;
// trace() has every term, under the paper's name for it.
#pragma once

#include "core/model/rational_program.h"

namespace trimtab::model {

// "gpuperf": as they are printed.
[[nodiscard]] RationalProgram build_gpuperf();

// "gpuperf-benefits": changed as docs/model.md says, so that the benefits can be believed. It reads fields of the device's
// architecture: input_values() of a Device.
[[nodiscard]] RationalProgram build_gpuperf_benefits();

}  // namespace trimtab::model
