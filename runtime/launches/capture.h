// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is a stream recording a graph? What it records is told to the program as it was written, so a launch in a
// capture goes out as written, and its node is decided on when the graph is instantiated (graph_choices.h).
#pragma once

#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// Leaves the program's last error as it is. A launch that CUDA refuses for a capture counts as captured.
[[nodiscard]] bool is_captured(const BackendCalls& calls, cudaStream_t stream);

}  // namespace trimtab::runtime
