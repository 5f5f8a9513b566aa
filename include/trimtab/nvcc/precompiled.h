// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What trimtab++ precompiles: nvcc.h is a header of the system only where another file includes it.
#include "nvcc.h"
