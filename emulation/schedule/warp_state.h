// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a resident warp is in its trace.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "emulation/schedule/scheduler.h"

namespace trimtab::schedule {

inline constexpr double never = std::numeric_limits<double>::infinity();

struct WarpState {
    const BlockTrace* block = nullptr;
    const WarpTrace* trace = nullptr;
    std::size_t step = 0;
    const Instruction* next = nullptr;  // nullptr: it has ended, or its place is empty
    const Instruction* stretch_end = nullptr;
    const Request* request = nullptr;
    std::uint32_t place = 0;  // of its block on the SM
    std::uint32_t block_number = none, index = 0;
    std::uint64_t salt = 0;       // of its block's addresses
    double ready_cycles = never;  // when its next instruction may issue; never: it waits at a barrier
    double least_cycles = 0;      // instructions issue in their order
    double ended_cycles = 0;      // of all that it has issued
    double loads_end_cycles = 0;  // of its loads, where they end in order
    std::array<std::uint16_t, loop_depth> loops{}, iteration{};  // of the last step
    // Of the step's loops that the trace cuts short: the innermost, and the innermost whose iterations have come to
    // stand for those left out.
    std::uint16_t cut_loop = no_loop, late_loop = no_loop;
    std::vector<double> registers;  // when each is there
    std::vector<double> waits;      // by access: what is left of its share of requests that wait for DRAM
};

// Leads warps from step to step, past the iterations that are left out.
class WarpSteps {
  public:
    explicit WarpSteps(const Work& work);

    // The next step that is kept and has instructions, from `w.step` on; the warp ends where there is none.
    void enter(WarpState& w);
    // By loop, of all warps.
    [[nodiscard]] const std::vector<std::uint64_t>& iterations() const { return iterations_; }

  private:
    // Warps whose loops differ in length keep the same share of their iterations: those that go on for longest do so
    // in what is emulated, too.
    [[nodiscard]] double cap(const WarpTrace& warp, std::uint16_t loop) const;
    [[nodiscard]] bool is_kept(const WarpTrace& warp, const Step& step) const;
    void count_iterations(WarpState& w, const Step& step);

    const Code& code_;
    const Caps& caps_;
    std::vector<double> most_at_a_time_;  // by loop: iterations, of any warp
    std::vector<std::uint64_t> iterations_;
};

}  // namespace trimtab::schedule
