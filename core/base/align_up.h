// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <type_traits>

namespace trimtab::base {

// The least multiple of the alignment that is no less than the value. Alignment 0 counts as 1.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T align_up(T value, std::type_identity_t<T> alignment) {
    return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

}  // namespace trimtab::base
