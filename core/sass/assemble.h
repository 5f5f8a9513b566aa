// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ptxas makes of a kernel's PTX, as a cubin and as instructions.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "core/ptx/binary.h"
#include "core/sass/disassembly.h"
#include "core/sass/run_ptxas.h"
#include "trimtab/error.h"

namespace trimtab::sass {

// In $CUDA_HOME, on PATH, or in the toolkit that Trimtab was built with; nvdisasm also where scripts/setup.sh
// puts it.
[[nodiscard]] std::optional<std::string> find_ptxas();
[[nodiscard]] std::optional<std::string> find_nvdisasm();

// `kernel` of the PTX text, assembled for `compute_capability` (86) or, where that is below the PTX's own
// target, for the latter. With the lines of the PTX, which change nothing of the code.
[[nodiscard]] std::expected<Cubin, Error> assemble_cubin(const std::string& ptx, const std::string& kernel,
                                                         unsigned compute_capability);

struct Assembly {
    std::string architecture;
    ptx::KernelResources resources;
    Function function;
};

// The same, disassembled. For Maxwell, Pascal and Volta, the device's own code, by older tools (assemble_older.h).
// Remembered by content in `cache_folder` (empty: nowhere). The error where there is no ptxas, no nvdisasm, or one of
// them refuses: it says which.
[[nodiscard]] std::expected<Assembly, Error> assemble(const std::string& ptx, const std::string& kernel,
                                                      unsigned compute_capability,
                                                      const std::string& cache_folder);
// $XDG_CACHE_HOME/trimtab/sass.
[[nodiscard]] std::string default_cache_folder();

}  // namespace trimtab::sass
