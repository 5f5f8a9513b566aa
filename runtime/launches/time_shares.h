// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long one kernel's launches may be tried, so that others come to their turn: `trimtab suggest` has so many seconds
// for a program whose kernels it meets one by one.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace trimtab::runtime {

class TimeShares {
  public:
    using Clock = std::chrono::steady_clock;

    // `seconds` from `now` on; 0: no end.
    TimeShares(std::chrono::seconds seconds, Clock::time_point now)
        : is_bounded_(seconds.count() != 0), end_(now + seconds) {}

    [[nodiscard]] bool is_over(Clock::time_point now) const { return is_bounded_ && now >= end_; }

    // May a launch of the kernel be tried? Its first one while there is time at all; a later one where the kernel has
    // not had more than what is left for each kernel that was met.
    [[nodiscard]] bool may_begin(const std::string& kernel, Clock::time_point now);
    // Until when: one launch takes half of what is left at most.
    [[nodiscard]] Clock::time_point end_of_launch(Clock::time_point now) const {
        return is_bounded_ ? now + (end_ - now) / 2 : Clock::time_point::max();
    }
    void spent(const std::string& kernel, Clock::duration time) { spent_[kernel] += time; }

  private:
    bool is_bounded_;
    Clock::time_point end_;
    std::map<std::string, Clock::duration> spent_;  // by every kernel that was met
};

}  // namespace trimtab::runtime
