// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects that trimtab++ compiled find Trimtab's runtime whatever links them.
#pragma once

#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace trimtab::pass {

// A variable for the address of a function of libtrimtab.so: null where there is none, or the program was linked to it.
llvm::GlobalVariable* add_found_function(llvm::Module& module, llvm::StringRef function);

// A constructor, before those that register kernels: where the program or library was linked without libtrimtab.so, it opens
// that, by name or in the plugin's folder, and fills the variables. The library looks at the CUDA runtime that was linked
// first: if it cannot stand before that, everything stays as it was linked.
void add_search(llvm::Module& module,
                llvm::ArrayRef<std::pair<llvm::StringRef, llvm::GlobalVariable*>> functions);

}  // namespace trimtab::pass
