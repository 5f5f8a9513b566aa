// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaves out iterations of counted loops while a warp runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulation/emulator/exec/observer.h"
#include "emulation/schedule/counted_loops.h"

namespace trimtab::schedule {

// Counted loops by the slot of their region.
class LoopsBySlot {
  public:
    explicit LoopsBySlot(std::vector<CountedLoop> loops);
    [[nodiscard]] bool empty() const { return loops_.empty(); }
    [[nodiscard]] const CountedLoop* at(std::uint32_t slot) const {
        return slot < number_.size() && number_[slot] != none ? &loops_[number_[slot]] : nullptr;
    }

  private:
    std::vector<CountedLoop> loops_;
    std::vector<std::uint32_t> number_;
};

// At the top of an iteration: moves the path's lanes on by as many iterations as all of them have before one's
// last, `most` at most, and returns how many. The last iteration of the first lane that leaves is always run.
[[nodiscard]] std::uint64_t skip_iterations(emulator::Warp& w, const CountedLoop& loop, std::uint64_t most);

// Counts the warp instructions that iterations would have run that it leaves out of a launch: all that can be.
class TurnSkipper : public emulator::LaunchObserver {
  public:
    explicit TurnSkipper(const LoopsBySlot& loops) : loops_(loops) {}
    [[nodiscard]] std::uint64_t skipped_instructions() const { return skipped_; }

    void grid_started() override { is_over_ = true; }
    void enters(emulator::Warp& w, const emulator::RegionInfo& region) override;

  private:
    const LoopsBySlot& loops_;
    std::uint64_t skipped_ = 0;
    bool is_over_ = false;  // what runs now was launched from the device
};

}  // namespace trimtab::schedule
