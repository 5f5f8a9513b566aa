// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and texts of CUDA's error codes.
#pragma once

#include <driver_types.h>

#include <vector>

#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

[[nodiscard]] const char* error_name(cudaError_t code);
[[nodiscard]] const char* error_text(cudaError_t code);
[[nodiscard]] std::vector<cudaError_t> all_errors();

// The error that CUDA reports for a fault of this kind.
[[nodiscard]] cudaError_t error_of(Fault::Kind kind);

}  // namespace trimtab::cuda
