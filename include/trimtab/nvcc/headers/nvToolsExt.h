// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA 13 has this header in nvtx3/ alone, and no library beside it.
#pragma once
#include <nvtx3/nvToolsExt.h>
