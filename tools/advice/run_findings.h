// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program's run lacks beside its single kernels: copies that could be left out, launches that could share the
// device.
#pragma once

#include <vector>

#include "tools/advice/advise.h"

namespace trimtab::advice {

// Gains are of the whole run: its kernels and its copies. The one that saves most comes first.
[[nodiscard]] std::vector<Finding> run_findings(const emulator::RunRecord& run, double kernels_ns);

}  // namespace trimtab::advice
