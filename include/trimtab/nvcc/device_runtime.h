// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels' calls to the runtime on the default stream: the toolkit's declarations for nvcc have a default
// argument that those for other compilers lack.
#pragma once
#pragma clang system_header

#if defined(__CLANG_RDC__) && CUDART_VERSION >= 12000
static __device__ __forceinline__ cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                                              cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
static __device__ __forceinline__ cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                                                size_t from_pitch, size_t width,
                                                                size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
static __device__ __forceinline__ cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes) {
    return cudaMemsetAsync(at, value, bytes, nullptr);
}
static __device__ __forceinline__ cudaError_t cudaEventRecord(cudaEvent_t event) {
    return cudaEventRecord(event, nullptr);
}
#endif
