// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rational program as C: the model's flow chart, node by node.
#pragma once

#include <string>

#include "core/model/rational_program.h"
#include "driver_gen/c_metrics.h"

namespace trimtab::driver_gen {

// `static int trimtab_kernel_predict(context, block, scale, &ns)`: 1 and the time, or 0 where the block cannot be
// launched. `scale[m]` multiplies metric m (in the order of the fits); 1 leaves it as it is. Before it comes
// `static void trimtab_fix(context, &fixed)`, which computes once a launch what no block changes. Extents are
// read from `extent_expressions`, C expressions over `data`. `launch_varies`: with the block, as an
// annotation may say, change the extents in D and the dynamic shared memory.
[[nodiscard]] std::string print_program(const model::RationalProgram& program, const KernelFits& fits,
                                        const std::array<std::string, 3>& extent_expressions,
                                        bool launch_varies, CMetrics& metrics);

}  // namespace trimtab::driver_gen
