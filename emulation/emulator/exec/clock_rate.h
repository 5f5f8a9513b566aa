// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast clocks run in the launches that a host thread makes: %clock and %clock64 count a warp's instructions, at a
// number of cycles each.
#pragma once

namespace trimtab::emulator {

// While it lives, for launches of this host thread. Without one, clocks advance by a cycle an instruction, and some
// more at each look, so that they only ever grow.
class ClockRate {
  public:
    explicit ClockRate(double cycles_per_instruction);
    ~ClockRate();
    ClockRate(const ClockRate&) = delete;
    ClockRate& operator=(const ClockRate&) = delete;

    // Of this thread; 0: none is set.
    [[nodiscard]] static double cycles_per_instruction();

  private:
    double before_;
};

}  // namespace trimtab::emulator
