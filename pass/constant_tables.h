// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables that clang puts into constant memory and nvcc does not.
#pragma once

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// Variables that are const, and not __constant__, go to constant memory with clang. Where that is more than
// its 64 KB hold, the largest of them go to global memory, where nvcc has them all. True where any went.
bool move_large_tables(llvm::Module& module);

}  // namespace trimtab::pass
