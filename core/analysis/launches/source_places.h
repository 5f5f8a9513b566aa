// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in the user's source an instruction comes from.
#pragma once

#include <cstdint>
#include <string>

#include "core/ptx/module.h"

namespace trimtab::analysis {

// Does the location name a file that is not one of the compiler's or the toolkit's own?
[[nodiscard]] bool is_user_source(const ptx::Module& module, const ptx::SourceLocation& location);
// "gemm.cu:14": the user's line that is nearest to the instruction; "ptx:120" where the image names none.
[[nodiscard]] std::string source_of(const ptx::Module& module, const ptx::Function& function,
                                    std::uint32_t instruction);

}  // namespace trimtab::analysis
