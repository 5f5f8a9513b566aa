// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime makes of a launch, asked without running it.
#pragma once

#include "choosing/choices/choose.h"
#include "tools/trimtab/launch_options.h"
#include "tools/trimtab/ranking.h"

namespace trimtab::tools {

// The runtime's own decision about the launch as written, its driver program's answers by the interpreted model.
// `launch`: its device, image, fits, model and arguments; limits and D are found anew.
[[nodiscard]] choosing::Decision runtime_choice(const LaunchQuestion& question, RankedLaunch launch,
                                                trimtab_dim3 grid, trimtab_dim3 block, double least_gain);

}  // namespace trimtab::tools
