// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work-group size that an OpenCL platform of this machine picks where a program gives none.
#pragma once

#include <optional>

#include "trimtab/driver.h"

namespace trimtab::bench {

// Asks the first platform by a kernel that reads its own local size. nullopt: there is none, or it fails.
[[nodiscard]] std::optional<trimtab_dim3> null_size(trimtab_dim3 global, unsigned dimensions);

}  // namespace trimtab::bench
