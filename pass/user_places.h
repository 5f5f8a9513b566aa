// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the code of compilers' and toolkits' headers stands in its user's source.
#pragma once

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// PTX names, of inlined code, the file that it was written in, and not the call by which it got there: nothing of
// the calls is left in a fat binary. What is inlined from a header of clang's or CUDA's gets the place of the innermost
// call in a user's file. To be run once everything is inlined. True where a place was changed.
bool move_places_to_users(llvm::Module& module);

}  // namespace trimtab::pass
