// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "core/ptx/module.h"

namespace trimtab::analysis::test {

// Does an instruction read a register that may have had no value?
[[nodiscard]] bool reads_undefined(const ptx::Function& function);

}  // namespace trimtab::analysis::test
