// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between integers of 128 bits and floating point, which clang's back end for GPUs leaves to a
// library that no GPU has.
#pragma once

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// Writes them out in operations on 64 bits, rounded once as IEEE 754 has it. True where there were any.
bool expand_wide_conversions(llvm::Module& module);

}  // namespace trimtab::pass
