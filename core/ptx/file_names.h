// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of source files as PTX holds them.
#pragma once

#include <string>
#include <string_view>

namespace trimtab::ptx {

// ptxas takes ASCII alone: Trimtab's plugin writes a byte beyond it as %XX (pass/file_names.h). The name as
// it was; a % that stands for nothing else stays.
[[nodiscard]] std::string decode_file_name(std::string_view name);

}  // namespace trimtab::ptx
