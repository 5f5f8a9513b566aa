// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums over a thread's iterations: s = nothing; for (...) s += what the iteration alone decides.
#pragma once

#include "core/checker/reading.h"

namespace trimtab::checker {

// Is each of the certificate's values the sum of what the thread's iterations came to so far, and what the atomic
// adds that of all of them?
[[nodiscard]] bool is_iteration_sum(const Reading& reading, const IterationSum& sum);
// Without those of its values that are none.
[[nodiscard]] IterationSum with_sums_only(const Reading& reading, IterationSum sum);

}  // namespace trimtab::checker
