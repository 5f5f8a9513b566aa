// Sums over the turns of a grid-stride loop that end in an atomic: s += a[i] in the loop, atomicAdd(sum, s)
// behind it. Integers add up to the same in any order and in any grouping, and so do the smallest, the
// largest and bits: however many threads the turns are dealt to, memory gets the sum of all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analysis/turn_values.h"

namespace trimtab::analysis {

// What is known of the loops of a dimension, by block.
struct TurnParts {
    // What stands there is done once for a turn, of which the turn alone decides whether.
    std::function<bool(ptx::BlockIndex)> counts;
    // Of a block that leaves its loop: is the turn done there (true), or not begun (false)?
    std::function<std::optional<bool>(ptx::BlockIndex)> turn_is_done;
};

// Is the instruction, outside the loops of the dimension that `turns` is about, an atomic without a result
// that adds what its thread's turns came to, each by values of that turn alone, beginning with what adds
// nothing? That its address is the same for all threads is part of it; who comes by is not: a thread that
// makes no turn adds nothing.
[[nodiscard]] bool is_sum_of_turns(const FunctionValues& kernel, const TurnValues& turns,
                                   const TurnParts& parts, std::uint32_t instruction);

}  // namespace trimtab::analysis
