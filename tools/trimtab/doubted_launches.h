// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches whose predictions from a profile are uncertain, so that they would go out as written.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/model/device.h"
#include "profiler/profile.h"

namespace trimtab::tools {

struct LaunchOfProgram {
    std::vector<std::byte> parameters;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
};

// "active_blocks comes out below 0 (...)" of one of the launches; empty where all can be decided.
[[nodiscard]] std::string why_uncertain(const analysis::KernelDescription& description,
                                        const profiler::Profile& profile,
                                        std::span<const LaunchOfProgram> launches,
                                        const model::Device& device);

}  // namespace trimtab::tools
