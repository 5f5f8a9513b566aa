// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watches the functional emulation of some blocks and writes down what their warps did.
//
// Of each loop the first iterations are kept (`kept_iterations`), the others counted: a loop's steady state shows in
// tens of iterations. Those of `counted` loops are not even run.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "emulation/emulator/exec/observer.h"
#include "emulation/schedule/code_builder.h"
#include "emulation/schedule/skip_iterations.h"

namespace trimtab::schedule {

// Steps that one launch may leave behind, some hundred megabytes.
inline constexpr std::size_t most_steps = 2'000'000;

// What stores take of L2, in slots: a whole segment of 64 bytes takes one.
struct StoreRules {
    double whole_sector = 0.5, partial_sector = 1, fragment = 0;  // Architecture's
};

class Recorder : public emulator::LaunchObserver {
  public:
    Recorder(const BuiltCode& code, const StoreRules& stores, const emulator::Program& program,
             const LoopsBySlot& counted)
        : code_(code),
          stores_(stores),
          program_(program),
          counted_(counted),
          cut_short_(code.code.loops.size(), false) {}

    [[nodiscard]] std::vector<BlockTrace>& blocks() { return blocks_; }
    [[nodiscard]] const std::vector<BlockTrace>& traces() const { return blocks_; }
    // By block, then by access: the least address of its first request; 0: it made none.
    [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& first_addresses() const { return first_; }
    // How often a warp entered each region, by its slot in the kernel's numbering: all iterations.
    [[nodiscard]] const std::vector<std::uint32_t>& entered(std::size_t block, std::size_t warp) const {
        return warps_[block][warp].entered;
    }
    // That iterations would have run which were left out.
    [[nodiscard]] std::uint64_t skipped_instructions() const { return skipped_; }
    // By loop: some warp had more iterations at a time than are kept.
    [[nodiscard]] bool is_cut_short(std::size_t loop) const { return cut_short_[loop]; }
    // Steps were lost: the launch is more than can be kept.
    [[nodiscard]] bool is_cut() const { return steps_ >= most_steps; }

    // Of another kernel, or of no block that is asked about.
    void grid_started() override { is_over_ = true; }
    void block_started(const emulator::Block& block) override;
    [[nodiscard]] emulator::LaneAddresses::Shape accesses(emulator::Warp& w, const emulator::Op* op,
                                                          emulator::LaneAddresses::Shape shape) override;
    void enters(emulator::Warp& w, const emulator::RegionInfo& region) override;

  private:
    struct OpenLoop {
        std::uint16_t loop = 0;
        std::uint32_t depth = 0;  // of the frame
        std::uint64_t iteration = 0;
    };
    struct WarpState {
        std::vector<OpenLoop> open;
        std::vector<std::uint32_t> entered;
        std::vector<std::uint32_t> last_step;  // by stretch; none: it is not kept
    };
    void skip(emulator::Warp& w, const emulator::RegionInfo& region, WarpTrace& trace, WarpState& state);
    [[nodiscard]] BlockTrace& block_of(const emulator::Warp& w, std::size_t* number);

    const BuiltCode& code_;
    StoreRules stores_;
    const emulator::Program& program_;
    const LoopsBySlot& counted_;
    std::vector<bool> cut_short_;
    std::vector<BlockTrace> blocks_;
    std::vector<std::vector<std::uint64_t>> first_;
    std::vector<std::vector<WarpState>> warps_;  // by block
    std::map<std::uint64_t, std::size_t> number_of_;
    std::size_t steps_ = 0;
    std::uint64_t skipped_ = 0;
    bool is_over_ = false;  // what runs now was launched from the device
};

}  // namespace trimtab::schedule
