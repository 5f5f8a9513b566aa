// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is installed with the library of Trimtab's that this code is in.
#pragma once

#include <string>

namespace trimtab::choosing {

// The folder of that library; empty where it cannot be told.
[[nodiscard]] std::string own_folder();
// Another library of Trimtab's, opened; null with the loader's message in `error`.
[[nodiscard]] void* open_own_library(const std::string& name, std::string& error);
// A program of Trimtab's: in bin/ beside the folder of its libraries, else on PATH; "" where there is none.
[[nodiscard]] std::string find_own_program(const std::string& name);

}  // namespace trimtab::choosing
