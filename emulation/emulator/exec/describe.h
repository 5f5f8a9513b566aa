// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions and places as text, for faults and reports.
#pragma once

#include <string>

#include "core/ptx/module.h"

namespace trimtab::emulator {

// "@%p1 bra $L1": as PTX would write it, without the semicolon.
[[nodiscard]] std::string instruction_text(const ptx::Function& function,
                                           const ptx::Instruction& instruction);
// "gemm.cu:12", or "PTX line 34 of gemm.ptx" where the source is unknown.
[[nodiscard]] std::string place_text(const ptx::Module& module, const ptx::Instruction& instruction);

}  // namespace trimtab::emulator
