// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program to capture the first launches of its kernels.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "core/base/temporary_folder.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// The captures' files in `folder`: of `kernel`, or of every kernel that the program launches if it is empty. The program
// runs once for each kernel, and once more to tell its kernels; what it prints is dropped. `device`: that it is emulated on.
[[nodiscard]] std::expected<std::vector<std::string>, Error> capture_kernels(
    const std::vector<std::string>& program, const std::string& kernel, const std::string& device,
    const base::TemporaryFolder& folder);

}  // namespace trimtab::tools
