// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches, and what is known of a kernel.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "core/model/occupancy.h"
#include "emulation/cuda/kernel_launch.h"
#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

// Runs `body` on a kernel loaded for the current device, holding State::mutex.
template <typename Body>
cudaError_t on_kernel(const void* function, const Body& body) {
    return locked_call([&](State& state) {
        CUkern_st* kernel = state.modules.kernel(function);
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        const Device& device = state.current();
        const auto loaded = state.modules.load(*kernel, device.ordinal, device.description.values);
        return loaded ? body(state, device, *kernel, **loaded) : state.failed(loaded.error());
    });
}

cudaError_t launch(const KernelCall& made) {
    return call([&](State& state) { return launch_kernel(state, made); });
}

// One dimension of a kernel's clusters.
cudaError_t set_cluster(unsigned& dimension, int value) {
    if (value < 0) return cudaErrorInvalidValue;
    dimension = static_cast<unsigned>(value);
    return cudaSuccess;
}

// Threads a block that registers and launch bounds allow, as cudaFuncGetAttributes tells it.
int max_threads_of(const trimtab_device& device, const trimtab_image& image) {
    double limit = device.max_threads_per_block;
    if (image.max_threads_per_block > 0) limit = std::min(limit, image.max_threads_per_block);
    auto threads = static_cast<std::uint32_t>(limit);
    const auto warp = static_cast<std::uint32_t>(device.warp_size);
    while (threads > warp && trimtab::model::occupancy(device, image, threads, 0).limiter ==
                                 trimtab::model::OccupancyLimiter::does_not_fit)
        threads = (threads - 1) / warp * warp;
    return static_cast<int>(threads);
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, CUstream_st* stream) {
    this_thread().configurations.push_back(
        {.grid = gridDim, .block = blockDim, .dynamic_shared_bytes = sharedMem, .stream = stream});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem, void* stream) {
    auto& configurations = this_thread().configurations;
    if (configurations.empty()) return finish(cudaErrorMissingConfiguration);
    const CallConfiguration& last = configurations.back();
    *gridDim = last.grid;
    *blockDim = last.block;
    *sharedMem = last.dynamic_shared_bytes;
    *static_cast<cudaStream_t*>(stream) = last.stream;
    configurations.pop_back();
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
    return launch({.function = func,
                   .grid = gridDim,
                   .block = blockDim,
                   .arguments = args,
                   .dynamic_shared_bytes = sharedMem,
                   .stream = stream});
}
TRIMTAB_SAME_AS(cudaLaunchKernel, cudaLaunchKernel_ptsz);

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args,
                               size_t sharedMem, cudaStream_t stream) {
    return launch({.function = kernel,
                   .grid = gridDim,
                   .block = blockDim,
                   .arguments = args,
                   .dynamic_shared_bytes = sharedMem,
                   .stream = stream});
}
TRIMTAB_SAME_AS(__cudaLaunchKernel, __cudaLaunchKernel_ptsz);

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                        size_t sharedMem, cudaStream_t stream) {
    const cudaLaunchAttribute attribute = cooperative_attribute();
    return launch({.function = func,
                   .grid = gridDim,
                   .block = blockDim,
                   .arguments = args,
                   .dynamic_shared_bytes = sharedMem,
                   .stream = stream,
                   .attributes = {&attribute, 1}});
}
TRIMTAB_SAME_AS(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz);

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
    if (config == nullptr) return finish(cudaErrorInvalidConfiguration);
    return launch({.function = func,
                   .grid = config->gridDim,
                   .block = config->blockDim,
                   .arguments = args,
                   .dynamic_shared_bytes = config->dynamicSmemBytes,
                   .stream = config->stream,
                   .attributes = {config->attrs, config->attrs == nullptr ? 0 : config->numAttrs}});
}
TRIMTAB_SAME_AS(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz);

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) {
    return on_kernel(
        func, [=](State&, const Device& device, const CUkern_st& kernel, const LoadedKernel& loaded) {
            if (attr == nullptr) return cudaErrorInvalidValue;
            const trimtab_device& values = device.description.values;
            *attr = {};
            attr->sharedSizeBytes = static_cast<std::size_t>(loaded.image.static_shared_bytes);
            attr->localSizeBytes = static_cast<std::size_t>(loaded.image.local_bytes_per_thread);
            attr->numRegs = static_cast<int>(loaded.image.registers_per_thread);
            attr->maxThreadsPerBlock = max_threads_of(values, loaded.image);
            attr->ptxVersion = static_cast<int>(loaded.module->ptx_architecture);
            attr->binaryVersion = static_cast<int>(values.compute_capability);
            attr->preferredShmemCarveout = kernel.shared_carveout;
            const double free_shared = values.shared_bytes_per_block - loaded.image.static_shared_bytes;
            attr->maxDynamicSharedSizeBytes =
                std::max(kernel.max_dynamic_shared_bytes, static_cast<int>(std::max(0.0, free_shared)));
            return cudaSuccess;
        });
}

cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attr, int value) {
    return on_kernel(func, [=](State&, const Device& device, CUkern_st& kernel, const LoadedKernel& loaded) {
        switch (attr) {
            case cudaFuncAttributeMaxDynamicSharedMemorySize:
                if (value < 0 || loaded.image.static_shared_bytes + value >
                                     device.description.values.shared_bytes_per_block_optin)
                    return cudaErrorInvalidValue;
                kernel.max_dynamic_shared_bytes = value;
                return cudaSuccess;
            case cudaFuncAttributePreferredSharedMemoryCarveout:
                if (value < -1 || value > 100) return cudaErrorInvalidValue;
                kernel.shared_carveout = value;
                return cudaSuccess;
            // Of clusters, which are checked when they are launched.
            case cudaFuncAttributeNonPortableClusterSizeAllowed:
                if (value < 0) return cudaErrorInvalidValue;
                kernel.allows_large_clusters = value != 0;
                return cudaSuccess;
            case cudaFuncAttributeRequiredClusterWidth:
                return set_cluster(kernel.required_cluster.x, value);
            case cudaFuncAttributeRequiredClusterHeight:
                return set_cluster(kernel.required_cluster.y, value);
            case cudaFuncAttributeRequiredClusterDepth:
                return set_cluster(kernel.required_cluster.z, value);
            case cudaFuncAttributeClusterSchedulingPolicyPreference:
                return value < 0 ? cudaErrorInvalidValue : cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache) {
    return on_kernel(
        func, [](State&, const Device&, const CUkern_st&, const LoadedKernel&) { return cudaSuccess; });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig) {
    return cudaFuncSetCacheConfig(func, cudaFuncCachePreferNone);
}

cudaError_t cudaFuncGetName(const char** name, const void* func) {
    return locked_call([=](State& state) {
        const CUkern_st* kernel = state.modules.kernel(func);
        if (name == nullptr) return cudaErrorInvalidValue;
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        *name = kernel->name.c_str();
        return cudaSuccess;
    });
}

cudaError_t cudaFuncGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset,
                                 size_t* paramSize) {
    return on_kernel(func, [=](State&, const Device&, const CUkern_st&, const LoadedKernel& loaded) {
        const auto& parameters = loaded.function->parameters;
        if (paramOffset == nullptr || paramIndex >= parameters.size()) return cudaErrorInvalidValue;
        *paramOffset = parameters[paramIndex].offset_bytes;
        if (paramSize != nullptr) *paramSize = parameters[paramIndex].size_bytes;
        return cudaSuccess;
    });
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) {
    return locked_call([=](State& state) {
        CUkern_st* kernel = state.modules.kernel(entryFuncAddr);
        if (kernelPtr == nullptr) return cudaErrorInvalidValue;
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        *kernelPtr = kernel;
        return cudaSuccess;
    });
}

// A cudaFunction_t is the driver's CUfunction, which is the kernel here.
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr) {
    return __cudaGetKernel(reinterpret_cast<cudaKernel_t*>(functionPtr), symbolPtr);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attr, int value,
                                            int device) {
    const int current = this_thread().device;
    if (device < 0 || static_cast<std::size_t>(device) >= State::instance().devices.size())
        return finish(cudaErrorInvalidDevice);
    this_thread().device = device;
    const cudaError_t status = cudaFuncSetAttribute(kernel, attr, value);
    this_thread().device = current;
    return status;
}

cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) {
    return __cudaGetKernel(kernelPtr, entryFuncAddr);
}

// Occupancy: the model's, which follows CUDA's own rule.

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func,
                                                                   int blockSize, size_t dynamicSMemSize,
                                                                   unsigned) {
    return on_kernel(func, [=](State&, const Device& device, const CUkern_st&, const LoadedKernel& loaded) {
        if (numBlocks == nullptr || blockSize <= 0) return cudaErrorInvalidValue;
        const auto occupancy = trimtab::model::occupancy(device.description.values, loaded.image,
                                                         static_cast<std::uint32_t>(blockSize),
                                                         static_cast<double>(dynamicSMemSize));
        *numBlocks = static_cast<int>(occupancy.blocks_per_sm);
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func, int blockSize,
                                                          size_t dynamicSMemSize) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                  cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func,
                                                      int numBlocks, int blockSize) {
    return on_kernel(func, [=](State&, const Device& device, const CUkern_st&, const LoadedKernel& loaded) {
        if (dynamicSmemSize == nullptr || numBlocks <= 0 || blockSize <= 0) return cudaErrorInvalidValue;
        const trimtab_device& values = device.description.values;
        const double unit = std::max(1.0, values.shared_allocation_bytes);
        const double own = values.shared_reserved_bytes_per_block + loaded.image.static_shared_bytes;
        // A block's share of the SM, less what it has anyway, in whole units.
        const double share =
            static_cast<double>(static_cast<std::uint64_t>(values.shared_bytes_per_sm / numBlocks / unit) *
                                static_cast<std::uint64_t>(unit));
        const double most = values.shared_bytes_per_block_optin - loaded.image.static_shared_bytes;
        *dynamicSmemSize = static_cast<std::size_t>(std::clamp(share - own, 0.0, std::max(0.0, most)));
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, const void* func,
                                                 const cudaLaunchConfig_t* launchConfig) {
    return on_kernel(func, [=](State&, const Device&, const CUkern_st& kernel, const LoadedKernel&) {
        if (clusterSize == nullptr || launchConfig == nullptr) return cudaErrorInvalidValue;
        *clusterSize = static_cast<int>(largest_cluster_of(kernel));
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, const void* func,
                                           const cudaLaunchConfig_t* launchConfig) {
    return on_kernel(func, [=](State&, const Device& device, const CUkern_st&, const LoadedKernel& loaded) {
        if (numClusters == nullptr || launchConfig == nullptr) return cudaErrorInvalidValue;
        double cluster_blocks = 1;
        if (const auto& own = loaded.function->required_cluster)
            cluster_blocks = static_cast<double>(own->x) * own->y * own->z;
        for (unsigned i = 0; launchConfig->attrs != nullptr && i < launchConfig->numAttrs; ++i) {
            const cudaLaunchAttribute& attribute = launchConfig->attrs[i];
            if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
            const auto& size = attribute.val.clusterDim;
            cluster_blocks = static_cast<double>(size.x) * size.y * size.z;
        }
        if (cluster_blocks < 1) return cudaErrorInvalidClusterSize;
        const dim3& block = launchConfig->blockDim;
        const trimtab_device& values = device.description.values;
        const auto occupancy = trimtab::model::occupancy(values, loaded.image, block.x * block.y * block.z,
                                                         static_cast<double>(launchConfig->dynamicSmemBytes));
        *numClusters = static_cast<int>(occupancy.blocks_per_sm * values.sm_count / cluster_blocks);
        return cudaSuccess;
    });
}

}  // extern "C"
