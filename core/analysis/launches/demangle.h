// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels' names as people know them.
#pragma once

#include <string>

namespace trimtab::analysis {

// "scale(float*, int)" of "_Z5scalePfi"; a name that is not mangled as it is.
[[nodiscard]] std::string demangle(const std::string& name);

}  // namespace trimtab::analysis
