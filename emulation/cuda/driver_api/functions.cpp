// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the driver API tells of kernels: attributes, parameters, occupancy.
#include <algorithm>

#include "emulation/cuda/driver_api/call.h"

using namespace trimtab::cuda::driver;

namespace {

CUresult attribute(int* value, CUfunction_attribute attrib, const void* function) {
    return context_call([=](State&) {
        if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
        cudaFuncAttributes all{};
        if (const cudaError_t status = cudaFuncGetAttributes(&all, function); status != cudaSuccess)
            return to_result(status);
        switch (attrib) {
            case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
                *value = all.maxThreadsPerBlock;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
                *value = static_cast<int>(all.sharedSizeBytes);
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
                *value = static_cast<int>(all.constSizeBytes);
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
                *value = static_cast<int>(all.localSizeBytes);
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_NUM_REGS:
                *value = all.numRegs;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_PTX_VERSION:
                *value = all.ptxVersion;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
                *value = all.binaryVersion;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
                *value = all.cacheModeCA;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
                *value = all.maxDynamicSharedSizeBytes;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
                *value = all.preferredShmemCarveout;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
                *value = all.clusterDimMustBeSet;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
                *value = all.requiredClusterWidth;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
                *value = all.requiredClusterHeight;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
                *value = all.requiredClusterDepth;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
                *value = all.nonPortableClusterSizeAllowed;
                return CUDA_SUCCESS;
            case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
                *value = all.clusterSchedulingPolicyPreference;
                return CUDA_SUCCESS;
            default:
                return CUDA_ERROR_INVALID_VALUE;
        }
    });
}

// Runs `body` with another device current: for calls that name one.
template <typename Body>
CUresult with_device(CUdevice device, const Body& body) {
    return initialised_call([&](State& state) {
        if (device_at(state, device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
        auto& thread = this_thread();
        thread.contexts.push_back(&device_at(state, device)->primary);
        thread.device = device;
        const CUresult result = body();
        thread.contexts.pop_back();
        thread.device = thread.contexts.empty() ? 0 : thread.contexts.back()->device;
        return result;
    });
}

// The attributes are numbered and laid out alike in both interfaces.
cudaLaunchConfig_t same_configuration(const CUlaunchConfig& config) {
    cudaLaunchConfig_t out{};
    out.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
    out.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
    out.dynamicSmemBytes = config.sharedMemBytes;
    out.stream = config.hStream;
    out.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
    out.numAttrs = config.numAttrs;
    return out;
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
    return attribute(pi, attrib, hfunc);
}
CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
    return with_device(dev, [=] { return attribute(pi, attrib, kernel); });
}

// Both interfaces number what can be set alike.
CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    return context_call([=](State&) {
        return cudaFuncSetAttribute(static_cast<const void*>(hfunc), static_cast<cudaFuncAttribute>(attrib),
                                    value);
    });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
    return with_device(dev,
                       [=] { return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attrib, val); });
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
    return context_call([=](State&) {
        return cudaFuncSetCacheConfig(static_cast<const void*>(hfunc), static_cast<cudaFuncCache>(config));
    });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    return with_device(dev,
                       [=] { return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config); });
}
CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig) {
    return cuFuncSetCacheConfig(hfunc, CU_FUNC_CACHE_PREFER_NONE);
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
    return context_call([=](State& state) {
        const std::lock_guard lock(state.mutex);
        const CUkern_st* kernel = state.modules.kernel(hfunc);
        if (hmod == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        *hmod = reinterpret_cast<CUmodule>(kernel->module);
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
    return context_call([=](State&) { return cudaFuncGetName(name, static_cast<const void*>(hfunc)); });
}
CUresult cuKernelGetName(const char** name, CUkernel hfunc) {
    return context_call([=](State&) { return cudaFuncGetName(name, static_cast<const void*>(hfunc)); });
}
CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
    return context_call([=](State&) {
        return cudaFuncGetParamInfo(static_cast<const void*>(func), paramIndex, paramOffset, paramSize);
    });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
    return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), paramIndex, paramOffset, paramSize);
}

CUresult cuFuncLoad(CUfunction function) {
    return context_call([=](State&) {
        cudaFuncAttributes all{};
        return cudaFuncGetAttributes(&all, static_cast<const void*>(function));
    });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuFuncLoad(function);
    *state = result == CUDA_SUCCESS ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return result;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned flags) {
    return context_call([=](State&) {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            numBlocks, static_cast<const void*>(func), blockSize, dynamicSMemSize, flags);
    });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                CU_OCCUPANCY_DEFAULT);
}

// The largest block, in whole warps, of those that keep the most threads resident.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned flags) {
    return context_call([=](State& state) {
        if (minGridSize == nullptr || blockSize == nullptr) return CUDA_ERROR_INVALID_VALUE;
        cudaFuncAttributes all{};
        if (const cudaError_t status = cudaFuncGetAttributes(&all, static_cast<const void*>(func));
            status != cudaSuccess)
            return to_result(status);
        const trimtab_device& device = state.current().description.values;
        const int warp = static_cast<int>(device.warp_size);
        int limit = all.maxThreadsPerBlock;
        if (blockSizeLimit > 0) limit = std::min(limit, blockSizeLimit);
        int best_threads = 0;
        for (int upper = (limit + warp - 1) / warp * warp; upper > 0; upper -= warp) {
            const int threads = std::min(upper, limit);
            const std::size_t shared =
                blockSizeToDynamicSMemSize != nullptr ? blockSizeToDynamicSMemSize(threads) : dynamicSMemSize;
            int blocks = 0;
            if (const CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                    &blocks, func, threads, shared, flags);
                result != CUDA_SUCCESS)
                return result;
            if (blocks * threads <= best_threads) continue;
            best_threads = blocks * threads;
            *blockSize = threads;
            *minGridSize = blocks * static_cast<int>(device.sm_count);
            if (best_threads >= static_cast<int>(device.max_threads_per_sm)) break;
        }
        if (best_threads == 0) *blockSize = *minGridSize = 0;
        return CUDA_SUCCESS;
    });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                          size_t dynamicSMemSize, int blockSizeLimit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                     dynamicSMemSize, blockSizeLimit, CU_OCCUPANCY_DEFAULT);
}

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func, const CUlaunchConfig* config) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t same = same_configuration(*config);
    return forward(cudaOccupancyMaxPotentialClusterSize, clusterSize, static_cast<const void*>(func), &same);
}
CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func, const CUlaunchConfig* config) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t same = same_configuration(*config);
    return forward(cudaOccupancyMaxActiveClusters, numClusters, static_cast<const void*>(func), &same);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize) {
    return context_call([=](State&) {
        return cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, static_cast<const void*>(func),
                                                         numBlocks, blockSize);
    });
}

}  // extern "C"
