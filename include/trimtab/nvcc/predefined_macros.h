// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's own macros. The toolkit's headers that ask for __NVCC__ are read first, for to them it means nvcc's
// built-in functions.
#pragma once
#pragma clang system_header

#if __has_include(<nv/target>)
#include <nv/target>
#endif
#if __has_include(<cuda/std/__cccl/compiler.h>)
#include <cuda/std/__cccl/compiler.h>
#endif

#ifndef __NVCC__
#define __NVCC__ 1
#endif
// clang has it without a value.
#undef __CUDACC__
#define __CUDACC__ 1
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#endif

// A host variable that the device reads, through the runtime: the plugin makes it one.
#ifdef __managed__
#undef __managed__
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device)) __attribute__((annotate("trimtab.managed")))
#else
#define __managed__ \
    __attribute__((device)) __attribute__((annotate("trimtab.managed"), section("trimtab_managed")))
#endif
#endif

// The plugin tells the kernel's code.
#undef __cluster_dims__
#define __cluster_dims__(...) __attribute__((annotate("trimtab.cluster", ##__VA_ARGS__)))

// sm_90's and newer; clang knows blocks and threads.
#ifndef __maxnreg__
#define __maxnreg__(...)
#endif
#ifndef __block_size__
#define __block_size__(...)
#endif

// Which closure types stand for extended lambdas cannot be told from others: to clang they are all alike.
#ifdef __CUDACC_EXTENDED_LAMBDA__
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#endif
