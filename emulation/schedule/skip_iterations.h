// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaves out iterations of counted loops while a warp runs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
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

    [[nodiscard]] const std::vector<CountedLoop>& all() const { return loops_; }

  private:
    std::vector<CountedLoop> loops_;
    std::vector<std::uint32_t> number_;
};

// At the top of an iteration: moves the path's lanes on by as many iterations as all of them have before one's
// last, `most` at most, and returns how many. The last iteration of the first lane that leaves is always run.
[[nodiscard]] std::uint64_t skip_iterations(emulator::Warp& w, const CountedLoop& loop, std::uint64_t most);

// What warps run of iterations of nests: those left out would do the same.
class NestWatch {
  public:
    explicit NestWatch(const LoopsBySlot& loops);

    // The warp's path enters a region. At the top of a nest, what the iteration that ends here ran: if it was seen whole,
    // and went with the same lanes; else nought.
    [[nodiscard]] std::uint64_t enters(const emulator::Warp& w, const emulator::RegionInfo& region);
    // It leaves out iterations of the loop at that region, of so many instructions.
    void leaves_out(const emulator::Warp& w, std::uint32_t slot, std::uint64_t instructions);

  private:
    struct Seen {
        bool is_whole = false;
        std::uint32_t lanes = 0;
        std::uint64_t instructions = 0;
    };
    [[nodiscard]] std::vector<Seen>& of(const emulator::Warp& w);

    std::vector<const CountedLoop*> nests_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<Seen>> warps_;  // by block and warp
};

// Counts the warp instructions that iterations would have run that it leaves out of a launch: all that can be.
class TurnSkipper : public emulator::LaunchObserver {
  public:
    explicit TurnSkipper(const LoopsBySlot& loops) : loops_(loops), watch_(loops) {}
    [[nodiscard]] std::uint64_t skipped_instructions() const { return skipped_; }

    void grid_started() override { is_over_ = true; }
    void enters(emulator::Warp& w, const emulator::RegionInfo& region) override;

  private:
    const LoopsBySlot& loops_;
    NestWatch watch_;
    std::uint64_t skipped_ = 0;
    bool is_over_ = false;  // what runs now was launched from the device
};

}  // namespace trimtab::schedule
