// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// __cluster_dims__, which clang has for AMD's GPUs alone: the compatibility header makes an annotation of it.
#pragma once

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// Device module: annotated kernels get PTX's .reqnctapercluster. True where something changed.
bool mark_cluster_dimensions(llvm::Module& module);

}  // namespace trimtab::pass
