// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __managed__ variables, which clang does not have: the compatibility header marks them with an annotation.
#pragma once

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// Device module: the marked variables get PTX's .managed attribute. True where something changed.
bool mark_managed_variables(llvm::Module& module);

// Host module: a marked variable is reached through the pointer that the runtime fills in
// (__cudaRegisterManagedVar, __cudaInitModule), as in nvcc's code. True where something changed.
bool route_managed_variables(llvm::Module& module);

}  // namespace trimtab::pass
