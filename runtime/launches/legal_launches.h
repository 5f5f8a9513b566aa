// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every launch that may take the place of one as written.
#pragma once

#include <vector>

#include "choosing/launch_shape.h"
#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/description.h"
#include "trimtab/driver.h"

namespace trimtab::runtime {

struct LegalLaunches {
    // The block as written is not among them.
    std::vector<model::LaunchConfiguration> blocks;
    // With another number of threads, of kernels whose grid-stride loops allow any.
    std::vector<model::LaunchConfiguration> totals;
};

// `limits`: of this launch (limits_of()).
[[nodiscard]] LegalLaunches legal_launches(const analysis::KernelDescription& description,
                                           analysis::ArgumentBytes arguments, const trimtab_limits& limits,
                                           const trimtab_device& device, const trimtab_image& image,
                                           const choosing::LaunchShape& shape);

}  // namespace trimtab::runtime
