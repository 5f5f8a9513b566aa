// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of its warp's counters an instruction waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sass/instruction.h"

namespace trimtab::sass {

struct CounterWait {
    std::uint8_t counter = 0;
    std::uint8_t left = 0;  // so many of those that took it may still be under way: the youngest
    friend bool operator==(const CounterWait&, const CounterWait&) = default;
};

// By its wait mask, and what DEPBAR names: "DEPBAR.LE SB5, 0x2, {4,3}".
[[nodiscard]] std::vector<CounterWait> counter_waits(const Instruction& instruction);

}  // namespace trimtab::sass
