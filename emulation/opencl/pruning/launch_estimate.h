// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch takes, roughly: counted from a walk of a few warps, so that thousands of sizes can be put in order.
#pragma once

#include "core/model/device.h"
#include "emulation/opencl/pruning/prune.h"
#include "emulation/opencl/pruning/warp_walk.h"
#include "emulation/schedule/code_builder.h"

namespace trimtab::pruning {

class LaunchEstimate {
  public:
    LaunchEstimate(const KernelCode& code, WarpWalk& walk, const model::Device& device, bool loads_bypass_l1);

    // Cycles of the busiest multiprocessor: what its resources and the longest chain of dependent instructions need at
    // least, if every access hits L2 and all whole warps of a group do as the first and the middle one.
    [[nodiscard]] double operator()(const GroupPlacement& placed);

  private:
    void walk(const GroupPlacement& placed, const std::vector<std::uint32_t>& warps);

    WarpWalk& walk_;
    const model::Device& device_;
    model::Architecture architecture_;
    schedule::BuiltCode code_;
    schedule::TracedLaunch launch_;
    double active_sms_ = 0;  // of launch_'s machine
};

}  // namespace trimtab::pruning
