// Sums over a thread's turns: s = nothing; for (...) s += what the turn alone decides.
#pragma once

#include "checker/reading.h"

namespace trimtab::checker {

// Is each of the certificate's values the sum of what the thread's turns came to so far, and what the atomic
// adds that of all of them?
[[nodiscard]] bool is_turn_sum(const Reading& reading, const TurnSum& sum);
// Without those of its values that are none.
[[nodiscard]] TurnSum with_sums_only(const Reading& reading, TurnSum sum);

}  // namespace trimtab::checker
