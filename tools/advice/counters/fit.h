// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no counter tells, as the model's time and traffic come nearest to what was measured.
#pragma once

#include <vector>

#include "tools/advice/counters/quantities.h"
#include "tools/advice/question.h"

namespace trimtab::advice {

struct Fitted {
    Question question;
    // The same counts with the least and the most of what is not told.
    std::vector<Question> others;
};
// `counted`: of profile_of(). Footprints follow from the hits in L1 and the bytes from memory, parallelism from the cycles
// between dependent instructions, rounds of waiting from the time.
[[nodiscard]] Fitted fit(Question counted, const Quantities& quantities);

}  // namespace trimtab::advice
