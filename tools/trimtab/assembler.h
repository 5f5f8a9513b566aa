// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas's numbers for one device's own architecture: what the CUDA driver would make of a kernel's PTX there.
#pragma once

#include <optional>
#include <string>

#include "core/analysis/launches/description.h"

namespace trimtab::tools {

// Registers, shared and local memory of `kernel` in the PTX text, assembled for `compute_capability` or,
// where that is below the PTX's own, for the latter. nullopt: no ptxas, or it refuses (those of CUDA 13 know
// nothing below 7.5).
[[nodiscard]] std::optional<analysis::KernelImage> assemble(const std::string& ptx, const std::string& kernel,
                                                            unsigned compute_capability);

}  // namespace trimtab::tools
