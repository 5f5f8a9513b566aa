// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for architectures that ptxas 13 no longer makes code for: Kepler, Maxwell, Pascal and Volta.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "core/sass/run_ptxas.h"
#include "trimtab/error.h"

namespace trimtab::sass {

// The first compute capability that today's ptxas makes code for (75), as 10 * major + minor.
inline constexpr unsigned first_current_capability = 75;

// ptxas of CUDA 11.8, as ptxas-11.8 on PATH or where scripts/setup.sh puts it.
[[nodiscard]] std::optional<std::string> find_older_ptxas();

// `kernel` of the PTX text, taken to be written for the device's architecture whatever its own target is. Before sm_35, which
// is the oldest that it knows, code is sm_35's with the 63 registers that a thread of those devices has at most. An error where
// there is no such ptxas, or it refuses: code that needs a newer architecture.
[[nodiscard]] std::expected<Cubin, Error> assemble_older(const std::string& ptx, const std::string& kernel,
                                                         unsigned compute_capability);

}  // namespace trimtab::sass
