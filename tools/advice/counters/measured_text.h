// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines of a text report that only kernels have which a GPU counted.
#pragma once

#include <string>

#include "tools/advice/advise.h"

namespace trimtab::advice {

[[nodiscard]] std::string measured_head(const KernelAdvice& kernel, const std::string& device);
[[nodiscard]] std::string measured_occupancy(const KernelAdvice& kernel);
// Rules that were left out, stalls and counters.
[[nodiscard]] std::string measured_text(const Measured& measured);

}  // namespace trimtab::advice
