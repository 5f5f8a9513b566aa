// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By how much floating-point numbers may differ where sums are taken in another order: docs/legality.md, "What rounding
// explains".
#pragma once

#include <cstddef>

#include "core/ptx/number_kinds.h"
#include "emulation/emulator/check/written_numbers.h"

namespace trimtab::emulator::check {

// What is known of a type. `tolerance`: of the larger of two numbers that were made of sums in other groups, far above
// their usual rounding and far below a term too many.
struct Precision {
    int bits = 0;  // of the significand
    double tolerance = 0, least_normal = 0;
};
[[nodiscard]] Precision precision_of(ptx::NumberKind kind);

// Numbers above it are sentinels, or no numbers at all, and say nothing of an array's scale.
inline constexpr double most_of_scale = 1e15;

// Of the kind's size, from the host's memory.
[[nodiscard]] double number_of(const std::byte* bytes, ptx::NumberKind kind);

// Two orders in which a sum may be taken differ by no more than `most`, whatever its terms are (the usual bound on
// a sum's error, twice), and hardly by more than `usual`.
struct SumBound {
    double usual = 0, most = 0;
};
[[nodiscard]] SumBound bound_of(const AtomicSum& sum);

}  // namespace trimtab::emulator::check
