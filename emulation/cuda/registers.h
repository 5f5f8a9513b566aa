// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The image of a kernel on an emulated device: registers, shared and local memory, limits.
#pragma once

#include "emulation/cuda/modules.h"

namespace trimtab::cuda {

// ptxas's numbers where a cubin came with the PTX; else estimated from the PTX, as the kernel's description
// does.
[[nodiscard]] trimtab_image image_of(LoadedModule& module, const LoadedKernel& kernel);

}  // namespace trimtab::cuda
