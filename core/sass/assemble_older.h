// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for architectures that ptxas 13 no longer makes code for: Kepler, Maxwell, Pascal and Volta.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "core/sass/encoding.h"
#include "core/sass/run_ptxas.h"
#include "trimtab/error.h"

namespace trimtab::sass {

// The first compute capability that today's ptxas makes code for (75), as 10 * major + minor.
inline constexpr unsigned first_current_capability = 75;
// Whether code for it is made by that older ptxas and read by an older nvdisasm: Maxwell, Pascal and Volta. Code of Kepler can be
// made, but nvdisasm of CUDA 12 does not read it.
[[nodiscard]] constexpr bool has_older_code(unsigned compute_capability) {
    return compute_capability >= first_grouped_architecture && compute_capability < first_current_capability;
}

// ptxas of CUDA 11.8 and nvdisasm of CUDA 12, as ptxas-11.8 and nvdisasm-12 on PATH or where scripts/setup.sh puts them.
[[nodiscard]] std::optional<std::string> find_older_ptxas();
[[nodiscard]] std::optional<std::string> find_older_nvdisasm();

// `kernel` of the PTX text, taken to be written for the device's architecture whatever its own target is. Before sm_35, which
// is the oldest that it knows, code is sm_35's with the 63 registers that a thread of those devices has at most. With the lines of the PTX, which change
// nothing of the code. An error where there is no such ptxas, or it refuses: code that needs a newer architecture.
[[nodiscard]] std::expected<Cubin, Error> assemble_older(const std::string& ptx, const std::string& kernel,
                                                         unsigned compute_capability);

}  // namespace trimtab::sass
