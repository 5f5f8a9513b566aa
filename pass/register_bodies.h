// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host side of the bodies that macro_bodies.h joins to the device code: they are registered beside their kernels, so
// that the runtime can launch them.
#pragma once

#include <string>

#include "llvm/IR/Module.h"

namespace trimtab::pass {

// `kernel_sources`: the file that the device's side wrote (kernel_sources.h). False: no kernel of it is a body.
bool register_macro_bodies(llvm::Module& module, const std::string& kernel_sources);

}  // namespace trimtab::pass
