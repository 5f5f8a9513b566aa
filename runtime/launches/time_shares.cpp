// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/time_shares.h"

namespace trimtab::runtime {

bool TimeShares::may_begin(const std::string& kernel, Clock::time_point now) {
    const auto [place, is_new] = spent_.try_emplace(kernel, Clock::duration::zero());
    if (!is_bounded_) return true;
    if (is_over(now)) return false;
    return place->second == Clock::duration::zero() ||
           place->second <= (end_ - now) / static_cast<Clock::rep>(spent_.size());
}

}  // namespace trimtab::runtime
