// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's annotation makes of the plan: the blocks that it allows, and the launch that goes with one.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/launches/description.h"

namespace trimtab::profiler {

class AnnotatedPlan {
  public:
    explicit AnnotatedPlan(const analysis::KernelDescription& description);

    // An annotation states something of the launch's shape.
    [[nodiscard]] bool is_annotated() const { return is_annotated_; }
    // The user answers for the blocks: nothing need divide.
    [[nodiscard]] bool is_promised() const;
    [[nodiscard]] bool states_grid() const { return description_.annotated_grid[0].has_value(); }
    // The threads of the launch as written are asked for in dimension d.
    [[nodiscard]] bool reads_extent(std::size_t d) const { return reads_extent_[d]; }
    // The grid depends on this member of D.
    [[nodiscard]] bool moves_grid(std::size_t data) const { return moves_grid_[data]; }

    // The launch of a block at D, for a launch of `extent` threads as written; none where it is ruled out, or
    // wants more shared memory than any GPU gives a block.
    [[nodiscard]] std::optional<analysis::LaunchConfiguration> launch(const std::vector<double>& data,
                                                                      const trimtab_dim3& extent,
                                                                      const trimtab_dim3& block) const;
    // Up to `most` blocks of whole warps that are allowed at D (of any threads where none is), evenly spread
    // from few threads to many; powers of two where those are enough. `free`: dimensions that vary.
    [[nodiscard]] std::vector<trimtab_dim3> blocks(const std::vector<double>& data,
                                                   const trimtab_dim3& extent,
                                                   const std::vector<std::size_t>& free,
                                                   std::uint32_t most_threads, std::size_t most) const;

  private:
    void note_leaves(const analysis::Expression& expression, bool of_grid);

    const analysis::KernelDescription& description_;
    bool is_annotated_ = false;
    std::array<bool, 3> reads_extent_{};
    std::vector<bool> moves_grid_;
};

}  // namespace trimtab::profiler
