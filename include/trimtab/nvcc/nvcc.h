// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a CUDA source written for nvcc may use and clang does not have. trimtab++ includes it before every
// CUDA source; nothing in it says anything about Trimtab.
#pragma once
#pragma clang system_header

// -nocudainc: there is no CUDA to complete.
#if defined(__CUDA__) && defined(__clang__) && defined(__cplusplus) && defined(CUDART_VERSION)
// clang-format off
#include "predefined_macros.h"
// Device code has new and delete without it.
#include <new>
// isfinite and its like without std::, for integers too.
#include <math.h>
#if __cplusplus >= 201103L
#include "min_max.h"
#include "scoped_atomics.h"
#include "intrinsics.h"
#include "older_runtime.h"
#include "device_library.h"
#include "device_runtime.h"
#endif
// clang-format on
#endif

#ifdef TRIMTAB_PLAIN_NAMES_HIDDEN
#include "show_plain_names.h"
#undef TRIMTAB_PLAIN_NAMES_HIDDEN
#endif
#define TRIMTAB_NVCC_READ
