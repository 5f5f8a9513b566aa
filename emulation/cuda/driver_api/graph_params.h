// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What nodes of graphs are made with: the driver API's structures and the runtime's.
#pragma once

#include <cstring>
#include <expected>

#include "emulation/cuda/driver_api/call.h"

namespace trimtab::cuda::driver {

// CUDA_KERNEL_NODE_PARAMS, or the structure of the same members that nodes of any kind are described by.
template <typename Params>
    requires requires(const Params& p) { p.kern; }
cudaKernelNodeParams to_runtime(const Params& p) {
    // A CUkernel stands where there is no CUfunction.
    void* function = p.func != nullptr ? static_cast<void*>(p.func) : static_cast<void*>(p.kern);
    return {.func = function,
            .gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ),
            .blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ),
            .sharedMemBytes = p.sharedMemBytes,
            .kernelParams = p.kernelParams,
            .extra = p.extra};
}

inline CUDA_KERNEL_NODE_PARAMS to_driver(const cudaKernelNodeParams& p) {
    return {.func = static_cast<CUfunction>(p.func),
            .gridDimX = p.gridDim.x,
            .gridDimY = p.gridDim.y,
            .gridDimZ = p.gridDim.z,
            .blockDimX = p.blockDim.x,
            .blockDimY = p.blockDim.y,
            .blockDimZ = p.blockDim.z,
            .sharedMemBytes = p.sharedMemBytes,
            .kernelParams = p.kernelParams,
            .extra = p.extra,
            .kern = nullptr,
            .ctx = this_thread().contexts.back()};
}

inline void* pointer_of(CUmemorytype type, const void* host_pointer, CUdeviceptr device_pointer) {
    return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host_pointer) : host(device_pointer);
}

// Between memory, not arrays. x is in bytes in both interfaces where no array takes part.
inline std::expected<cudaMemcpy3DParms, cudaError_t> to_runtime(const CUDA_MEMCPY3D& p) {
    if (p.srcMemoryType == CU_MEMORYTYPE_ARRAY || p.dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return std::unexpected(cudaErrorNotSupported);
    cudaMemcpy3DParms out{};
    const auto pitched = [&p](void* pointer, std::size_t pitch, std::size_t height) {
        return cudaPitchedPtr{.ptr = pointer,
                              .pitch = pitch != 0 ? pitch : p.WidthInBytes,
                              .xsize = p.WidthInBytes,
                              .ysize = height != 0 ? height : p.Height};
    };
    out.srcPtr = pitched(pointer_of(p.srcMemoryType, p.srcHost, p.srcDevice), p.srcPitch, p.srcHeight);
    out.dstPtr = pitched(pointer_of(p.dstMemoryType, p.dstHost, p.dstDevice), p.dstPitch, p.dstHeight);
    out.srcPos = {.x = p.srcXInBytes, .y = p.srcY, .z = p.srcZ};
    out.dstPos = {.x = p.dstXInBytes, .y = p.dstY, .z = p.dstZ};
    out.extent = {.width = p.WidthInBytes, .height = p.Height, .depth = p.Depth};
    out.kind = cudaMemcpyDefault;
    return out;
}

inline cudaMemsetParams to_runtime(const CUDA_MEMSET_NODE_PARAMS& p) {
    return {.dst = host(p.dst),
            .pitch = p.pitch,
            .value = p.value,
            .elementSize = p.elementSize,
            .width = p.width,
            .height = p.height};
}

// Most kinds of nodes are described alike in both interfaces.
inline std::expected<cudaGraphNodeParams, cudaError_t> to_runtime(const CUgraphNodeParams& p) {
    static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));
    cudaGraphNodeParams out{};
    std::memcpy(static_cast<void*>(&out), &p, sizeof out);
    if (p.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const cudaKernelNodeParams kernel = to_runtime(p.kernel);
        out.kernel = {.func = kernel.func,
                      .gridDim = kernel.gridDim,
                      .blockDim = kernel.blockDim,
                      .sharedMemBytes = kernel.sharedMemBytes,
                      .kernelParams = kernel.kernelParams,
                      .extra = kernel.extra};
    } else if (p.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        const auto copy = to_runtime(p.memcpy.copyParams);
        if (!copy) return std::unexpected(copy.error());
        out.memcpy = {};
        out.memcpy.copyParams = *copy;
    }
    return out;
}

}  // namespace trimtab::cuda::driver
