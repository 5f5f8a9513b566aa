// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Found before the toolkit's own header where it is included with "". clang does so at the start of what it
// reads before every source: from there to the end of nvcc.h a program's macros hide nothing (-DN=1024).
#pragma clang system_header
#if defined(__CLANG_CUDA_RUNTIME_WRAPPER_H__) && !defined(TRIMTAB_NVCC_READ) && \
    !defined(TRIMTAB_PLAIN_NAMES_HIDDEN)
#define TRIMTAB_PLAIN_NAMES_HIDDEN
#include "hide_plain_names.h"
#endif
#include_next <cuda.h>
