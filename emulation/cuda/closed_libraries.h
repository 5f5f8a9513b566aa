// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's libraries that hold their kernels as machine code alone: on the emulator they find no GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trimtab::cuda {

// "libcublas.so.13" and "/usr/lib/libcublas.so.13", not a program's own libcublas_wrapper.so.
[[nodiscard]] bool is_closed_library(std::string_view path);

// File names of those that the process has loaded.
[[nodiscard]] std::vector<std::string> loaded_closed_libraries();

}  // namespace trimtab::cuda
