// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals of machine integers that know wrap-around.
#pragma once

#include <array>
#include <cstdint>

#include "core/analysis/launches/operation.h"

namespace trimtab::analysis {

using Wide = __int128;

// The values mod 2^width of the integers lo to hi. Kept so that 0 <= lo < 2^width and hi - lo < 2^width: an
// interval may run over the end of the type, and is every value of it where hi - lo is 2^width - 1.
struct Interval {
    Wide lo = 0, hi = 0;
    unsigned width = 32;

    // Of any lo <= hi, brought to the form above.
    [[nodiscard]] static Interval of(Wide lo, Wide hi, unsigned width);
    [[nodiscard]] static Interval full(unsigned width);
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] bool is_single() const { return lo == hi; }
    [[nodiscard]] bool contains(std::uint64_t bits) const;

    // The values as integers of the signed or unsigned type: one range, or two where the interval runs over
    // the type's end.
    struct Range {
        Wide lo = 0, hi = 0;
    };
    struct Ranges {
        std::array<Range, 2> range;
        unsigned count = 0;
        [[nodiscard]] Range hull() const;
    };
    [[nodiscard]] Ranges as_type(bool is_signed) const;
};

[[nodiscard]] Interval join(const Interval& a, const Interval& b);

// What `operation` gives over all operands of the intervals: never too small. Pred results have width 1.
[[nodiscard]] Interval apply(const Operation& operation, std::span<const Interval> operands);

}  // namespace trimtab::analysis
