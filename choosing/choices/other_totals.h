// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other numbers of threads for kernels whose grid-stride loops allow any: a grid that fills the device, where
// the one written leaves it idle or gives its threads too little to do.
#pragma once

#include <optional>
#include <vector>

#include "choosing/choices/choose.h"

namespace trimtab::choosing {

// `decision`, or one with another grid whose prediction is better by more than both may err, and saves at least
// `least_gain` of the predicted time of the launch as written. `decision` is of choose(), for the same launch.
[[nodiscard]] Decision with_best_total(Decision decision, const PredictedKernel& kernel,
                                       const LaunchShape& shape, double least_gain);

// The launches with other numbers of threads that with_best_total() may choose from, as blocks and grids:
// every legal block of each number of threads that it tries. What `trimtab verify` holds against the launch
// as written.
[[nodiscard]] std::vector<LaunchConfiguration> launches_of_other_totals(
    const analysis::KernelDescription& description, analysis::ArgumentBytes arguments,
    const trimtab_device& device, const trimtab_image& image, const LaunchShape& shape);

// The grid and block of `stored`, which with_best_total() chose for an equal launch of an earlier process, if this
// launch may have them.
[[nodiscard]] std::optional<LaunchConfiguration> launch_of_total(
    const analysis::KernelDescription& description, const trimtab_device& device, const trimtab_image& image,
    const LaunchShape& shape, const LaunchConfiguration& stored);

}  // namespace trimtab::choosing
