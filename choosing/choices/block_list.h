// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every block that a launch may have.
#pragma once

#include <vector>

#include "trimtab/driver.h"

namespace trimtab::choosing {

// In order of z, y, x.
[[nodiscard]] std::vector<trimtab_dim3> legal_block_list(const trimtab_limits& limits);

}  // namespace trimtab::choosing
