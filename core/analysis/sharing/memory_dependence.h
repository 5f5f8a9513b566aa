// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel does by what memory holds: its branches, and where it reads and writes.
#pragma once

#include <string>
#include <string_view>

#include "core/ptx/module.h"

namespace trimtab::analysis {

// Empty where the kernel takes the same way and touches the same addresses whatever lies in memory, so that its
// parameters alone say what it does; else the first instruction of which that is not shown, as in "whether the
// branch at sparse.cu:12 is taken depends on memory". Memory is everything but the kernel's own parameters.
[[nodiscard]] std::string memory_dependence(const ptx::Module& module, std::string_view kernel);

}  // namespace trimtab::analysis
