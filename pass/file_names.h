// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of source files in debug information, in ASCII: ptxas takes nothing else in a .file line.
#pragma once

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// Each byte beyond ASCII becomes %XX, which core/ptx/file_names.h reads. True where a name was changed.
bool encode_file_names(llvm::Module& module);

}  // namespace trimtab::pass
