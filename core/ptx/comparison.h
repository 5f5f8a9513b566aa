// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer comparisons of setp, set and the video instructions, in the width and sign of T.
#pragma once

#include <concepts>

#include "core/ptx/types.h"

namespace trimtab::ptx {

template <std::integral T>
[[nodiscard, gnu::always_inline]] constexpr bool holds(Comparison comparison, T a, T b) {
    switch (comparison) {
        case Comparison::eq:
            return a == b;
        case Comparison::ne:
            return a != b;
        case Comparison::lt:
        case Comparison::lo:
            return a < b;
        case Comparison::le:
        case Comparison::ls:
            return a <= b;
        case Comparison::gt:
        case Comparison::hi:
            return a > b;
        default:
            return a >= b;
    }
}

}  // namespace trimtab::ptx
