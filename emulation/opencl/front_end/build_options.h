// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that a program may be built with.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace trimtab::opencl {

// As clang takes them: what OpenCL 3.0 lists in section 5.8.6, -U, and nothing else, for a program's options are no way
// to have the compiler write files or load plugins. The error: one line that names the option.
[[nodiscard]] std::expected<std::vector<std::string>, std::string> clang_options(
    const std::vector<std::string>& options);

}  // namespace trimtab::opencl
