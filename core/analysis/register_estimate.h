// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers a thread needs, estimated from PTX where no ptxas has spoken.
#pragma once

#include <cstdint>

#include "core/ptx/module.h"

namespace trimtab::analysis {

// The most 32-bit values alive at once, over the kernel and what it calls, and what ptxas needs besides; 255
// at most. 0: the code cannot be followed.
[[nodiscard]] std::uint32_t estimate_registers(const ptx::Module& module, const ptx::Function& kernel);

}  // namespace trimtab::analysis
