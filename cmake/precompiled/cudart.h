// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read once for the files of the emulated CUDA runtime (trimtab_precompile).
#pragma once

#include "cmake/precompiled/library.h"
#include "emulation/cuda/state.h"
