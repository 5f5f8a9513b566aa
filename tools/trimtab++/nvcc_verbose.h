// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nvcc -v and nvcc --version say and build systems read: CMake asks the first for the toolkit's folders and for
// the program that links; generators of CUDA read the toolkit's release from the fourth line of the second.
#pragma once

#include <string>

#include "tools/trimtab++/command_line.h"

namespace trimtab::wrapper {

// Is -v there, with something to build?
[[nodiscard]] bool is_verbose(const CommandLine& line);

// For a trimtab++ that is called nvcc. `cuda_version`: the toolkit's CUDA_VERSION.
[[nodiscard]] std::string nvcc_version_text(unsigned cuda_version, const std::string& clangxx);

// nvcc's variables and, where the command line links, the link as nvcc would word it, by this trimtab++. `cuda`: the
// toolkit.
[[nodiscard]] std::string nvcc_verbose_text(const CommandLine& line, const std::string& cuda,
                                            const std::string& own_path);

}  // namespace trimtab::wrapper
