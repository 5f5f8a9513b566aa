// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits for a kernel whose file has none: profiled on the emulator, then and there.
#pragma once

#include <expected>

#include "tools/trimtab/kernel_file.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// The kernel's fits, profiled and kept in its record if they are not there. The error says in one line why
// the kernel cannot be profiled.
[[nodiscard]] std::expected<const driver_gen::KernelFits*, Error> fits_of(FileKernel& kernel,
                                                                          const std::string& path);

}  // namespace trimtab::tools
