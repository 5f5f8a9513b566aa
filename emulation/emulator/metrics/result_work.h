// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions make a kernel's results, and which only find the way: addresses, loop counters, guards.
#pragma once

#include <string_view>
#include <vector>

#include "emulation/emulator/exec/launch.h"

namespace trimtab::emulator {

// By instruction, in the kernel's numbering: whether what it computes is stored, passed on to another thread, or decides by
// loaded data where the kernel goes. A thread that made several results would do these again for each of them; the rest at
// most once. All that a called function does counts as work.
[[nodiscard]] std::vector<bool> result_work(const Program& program, std::string_view kernel);

}  // namespace trimtab::emulator
