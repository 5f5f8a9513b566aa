// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a source ask what compiles it? Then what a device's own compiler makes of it may be another program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trimtab::opencl {

// A name that a condition of the preprocessor reads and neither the source nor the options define: the compiler's, or
// nobody's. Empty: there is none. What is included counts as unknown: then it is the directive.
[[nodiscard]] std::string asked_of_compiler(std::string_view source, const std::vector<std::string>& options);

}  // namespace trimtab::opencl
