// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The main job, tried whole on one small kernel.
#pragma once

#include "tools/trimtab/diagnosis.h"

namespace trimtab::tools {

// Compiles a program of one kernel with trimtab++, runs it where programs of this user run, and looks at what it
// computed and whether its launch was looked at. Takes seconds.
[[nodiscard]] Finding try_first_kernel();

}  // namespace trimtab::tools
