// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program wrote of a launch that goes out in another shape, for messages.
#pragma once

#include <optional>

#include "emulation/cuda/machine.h"
#include "trimtab/driver.h"

namespace trimtab::cuda {

// What trimtab_cudart_next_launch_is_written was given, once.
[[nodiscard]] std::optional<WrittenShape> take_written_shape();

}  // namespace trimtab::cuda

// The next launch of this thread stands for one of that shape; null: it is as written.
extern "C" void trimtab_cudart_next_launch_is_written(const trimtab_dim3* grid, const trimtab_dim3* block);
