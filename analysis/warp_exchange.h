// What the instructions do by which the threads of a warp tell each other something.
#pragma once

#include <utility>

#include "analysis/turn_sums.h"
#include "ptx/module.h"

namespace trimtab::analysis {

// PTX ISA, shfl.sync: the lane that is read, and whether it is in range; else it is the thread's own. `by` and
// `bound` are the instruction's operands b and c.
[[nodiscard]] std::pair<unsigned, bool> shuffle_source(ptx::ShuffleMode mode, unsigned lane, unsigned by,
                                                       unsigned bound);
// Does redux.sync bring values together by the operation of the sum?
[[nodiscard]] bool reduces(const ptx::Instruction& instruction, const TurnSum& sum);

}  // namespace trimtab::analysis
