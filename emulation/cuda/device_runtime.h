// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels call of CUDA's runtime and the emulator does not do itself: given to them as PTX.
#pragma once

#include <expected>

#include "core/ptx/module.h"

namespace trimtab::cuda {

// The module, linked with the functions that it calls of these: cudaGraphSetConditional, cudaGetErrorName and
// cudaGetErrorString.
[[nodiscard]] std::expected<ptx::Module, Error> with_device_runtime(ptx::Module module);

}  // namespace trimtab::cuda
