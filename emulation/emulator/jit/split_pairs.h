// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of two lanes, the first lanes of a warp's two runs, as two scalars: processors have more units for
// those, and addresses are wanted as scalars in the end.
#pragma once

#include <llvm/IR/Function.h>

namespace trimtab::emulator::jit {

// Behind mem2reg: what lies in memory stays a vector.
void split_pairs(llvm::Function& function);

}  // namespace trimtab::emulator::jit
