// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compilers and libraries of others that Trimtab drives.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "trimtab/error.h"

namespace trimtab::base {

// A program of LLVM 22: in llvm/bin of this install, where Trimtab was built with it, else on PATH by its versioned name.
[[nodiscard]] std::optional<std::string> find_llvm_program(const std::string& name);
[[nodiscard]] std::expected<std::string, Error> find_clangxx();
// Does the folder hold a CUDA toolkit?
[[nodiscard]] bool is_cuda_toolkit(const std::string& root);
// CUDA_PATH or CUDA_HOME, what Trimtab was built with, /usr/local/cuda, or that of nvcc; empty: there is none. Where
// the process runs with more rights than its user has, the variables are not read.
[[nodiscard]] std::string find_cuda();
// CUDA's library of mathematical functions, as bitcode: of the toolkit at `cuda`.
[[nodiscard]] std::string libdevice_of(const std::string& cuda);

}  // namespace trimtab::base
