// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// if (g == 0): a way that the thread of index 0 alone goes.
#pragma once

#include "core/checker/reading.h"

namespace trimtab::checker {

// Is the index 0 wherever the branch goes that way?
[[nodiscard]] bool goes_first(const Reading& reading, const FirstThread& first);

}  // namespace trimtab::checker
