// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the profile does not know of a launch, as C: what a prediction is worth (driver_judge.inc) is made of it.
#pragma once

#include <string>

#include "core/model/rational_program.h"
#include "driver_gen/c_metrics.h"

namespace trimtab::driver_gen {

// The functions of trimtab_kernel that say what the profile can speak for. `fill`: CMetrics::fill_function of all
// metrics and their rivals.
[[nodiscard]] std::string print_doubts(const KernelFits& fits, const model::RationalProgram& program,
                                       const CMetrics& metrics, const std::string& fill);

}  // namespace trimtab::driver_gen
