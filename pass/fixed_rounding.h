// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and sums that a compiler may round once or twice, as it likes: which ones are fused hangs on how the code
// around them looks. Two bodies of one kernel must round alike.
#pragma once

#include "llvm/IR/Function.h"

namespace trimtab::pass {

// Does each floating-point operation say how it rounds, but for products that may be fused with sums of float and
// double? Not so where numbers may be reordered or approximated (-ffast-math), and of products and sums of other types.
[[nodiscard]] bool can_fix_rounding(const llvm::Function& function);

// From here on no product may be fused with a sum: those that stand next to each other are, as code generation does.
void fix_rounding(llvm::Function& function);

}  // namespace trimtab::pass
