// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <cstdint>

namespace trimtab::profiler {

// A value of D at which the kernel does something else than at the others: a flag's 0, a mode's number; of a stride, 1.
struct SpecialValue {
    std::uint32_t data = 0;  // in D
    double value = 0;
    auto operator<=>(const SpecialValue&) const = default;
};

}  // namespace trimtab::profiler
