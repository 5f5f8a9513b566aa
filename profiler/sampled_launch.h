// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch at a point (D, P), of which some blocks are run.
#pragma once

#include <span>
#include <vector>

#include "core/analysis/launches/description.h"
#include "profiler/backend.h"
#include "profiler/block_sample.h"
#include "profiler/index_ranges.h"

namespace trimtab::profiler {

class SampledLaunch {
  public:
    // About `warps` warps of the blocks that hold an index of `ranges`; the places depend on the point alone.
    SampledLaunch(const analysis::KernelDescription& description, const IndexRanges& ranges,
                  std::span<const double> data, const trimtab_dim3& extent, const trimtab_dim3& block,
                  double warps, std::uint32_t dynamic_shared_bytes = 0);
    SampledLaunch(const SampledLaunch&) = delete;
    SampledLaunch& operator=(const SampledLaunch&) = delete;

    [[nodiscard]] MeasuredLaunch& launch() { return launch_; }
    // Blocks of each dimension that hold one.
    [[nodiscard]] const std::array<BlockRange, 3>& active() const { return active_; }
    // Asks for the footprints of boxes of several blocks: two and four side by side, whole rows, everything,
    // as far as running `affordable` blocks more gets.
    void add_boxes(double affordable);

  private:
    Arguments arguments_;
    std::array<BlockRange, 3> active_;
    std::uint32_t seed_ = 17;
    MeasuredLaunch launch_;
};

}  // namespace trimtab::profiler
