// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that the emulator cannot know: a library that was loaded before Trimtab's has registered them with CUDA's own runtime.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/process.h"

namespace trimtab::runtime {

void say_if_unknown(Process& process, const void* function);

// The status of a call that names a kernel.
[[nodiscard]] inline cudaError_t told_if_unknown(cudaError_t status, Process& process, const void* function) {
    if (status == cudaErrorInvalidDeviceFunction) say_if_unknown(process, function);
    return status;
}

}  // namespace trimtab::runtime
