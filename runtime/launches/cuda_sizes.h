// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA's sizes and those of driver programs.
#pragma once

#include <cuda_runtime_api.h>

#include "trimtab/driver.h"

namespace trimtab::runtime {

[[nodiscard]] inline trimtab_dim3 from_cuda(const dim3& size) {
    return {.x = size.x, .y = size.y, .z = size.z};
}
[[nodiscard]] inline dim3 to_cuda(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

}  // namespace trimtab::runtime
