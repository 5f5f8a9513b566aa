// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program needs around it to run under Trimtab.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "trimtab/error.h"

namespace trimtab::tools {

// TRIMTAB_DEVICE for what the user named: "gpu", a device or several with commas. A misspelt one would only
// be warned of by the program.
[[nodiscard]] std::expected<std::string, Error> checked_device(const std::string& text);

// Puts libtrimtab.so into LD_PRELOAD for a CUDA program that was not linked by trimtab++, and has OpenCL's loader find the
// platform or the layer.
[[nodiscard]] std::optional<Error> preload_runtime(const std::string& program);

}  // namespace trimtab::tools
