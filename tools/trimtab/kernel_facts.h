// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's description says that advice asks for.
#pragma once

#include "core/analysis/launches/description.h"
#include "tools/advice/advise.h"

namespace trimtab::tools {

[[nodiscard]] advice::KernelFacts facts_of(const analysis::KernelDescription& description);

}  // namespace trimtab::tools
