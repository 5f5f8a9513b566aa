// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of kernels that were compiled with another value of a macro: trimtab++ --trimtab-variants compiled the device
// code again for each value, and here those of its kernels that came out otherwise join the device module, under
// names of their own (trimtab/body_name.h).
#pragma once

#include <string>

#include "llvm/IR/Module.h"
#include "pass/variants.h"

namespace trimtab::pass {

// `list`: the file that trimtab++ wrote,
//
//     {"bodies": [{"macro": "BLOCK", "written": 256, "value": 128, "architecture": "sm_75", "file": "128.bc"}]}
//
// Adds to `variants` the bodies and the kernels as written. What cannot join is said on stderr, a line each. False:
// nothing joined.
bool add_macro_bodies(llvm::Module& module, const std::string& list, KernelVariants& variants);

// When all is optimised: bodies that came out as their kernels are go again. False: there was none.
bool drop_equal_bodies(KernelVariants& variants);

}  // namespace trimtab::pass
