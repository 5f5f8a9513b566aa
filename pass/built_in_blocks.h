// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose block is built in (blockIdx.x * 512 + threadIdx.x) get a second body with blockDim in the place of the
// constant. A launch of 512 threads a block is the same launch of either, and the second body may be proved to allow
// other blocks where the first one cannot have any (docs/legality.md, "Hard-coded blocks").
#pragma once

#include <string>

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// Of a device module whose calls are inlined and whose constants are folded. The bodies are named as
// trimtab/body_name.h says and put into the file of kernel sources beside their kernels. False: there is none.
bool add_built_in_bodies(llvm::Module& module, const std::string& kernel_sources);

}  // namespace trimtab::pass
