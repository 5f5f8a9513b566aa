// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mipmapped arrays: a CUDA array a level, each half as wide, high and deep as the one before.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>

#include "emulation/cuda/memory.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

std::size_t halved(std::size_t size, unsigned times) {
    return size == 0 ? 0 : std::max<std::size_t>(size >> times, 1);
}

// Layers and faces are not halved.
cudaExtent extent_of(const cudaExtent& first, unsigned level, bool has_layers) {
    return {.width = halved(first.width, level),
            .height = halved(first.height, level),
            .depth = has_layers ? first.depth : halved(first.depth, level)};
}

}  // namespace

extern "C" {

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmappedArray, const cudaChannelFormatDesc* desc,
                                     cudaExtent extent, unsigned numLevels, unsigned flags) {
    return call([=](State& state) {
        if (mipmappedArray == nullptr || desc == nullptr || extent.width == 0) return cudaErrorInvalidValue;
        const bool has_layers = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
        const std::size_t largest =
            std::max({extent.width, extent.height, has_layers ? std::size_t{0} : extent.depth});
        const unsigned count = std::clamp(numLevels, 1U, static_cast<unsigned>(std::bit_width(largest)));
        auto made = std::make_unique<cudaMipmappedArray>();
        for (unsigned level = 0; level < count; ++level) {
            cudaArray_t array = nullptr;
            if (const cudaError_t status =
                    cudaMalloc3DArray(&array, desc, extent_of(extent, level, has_layers), flags);
                status != cudaSuccess) {
                for (cudaArray_t earlier : made->levels) static_cast<void>(cudaFreeArray(earlier));
                return status;
            }
            made->levels.push_back(array);
        }
        const std::lock_guard lock(state.mutex);
        *mipmappedArray = *state.mipmapped_arrays.insert(made.release()).first;
        return cudaSuccess;
    });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                       unsigned level) {
    return locked_call([=](const State& state) {
        auto* known = const_cast<cudaMipmappedArray_t>(mipmappedArray);
        if (!state.mipmapped_arrays.contains(known)) return cudaErrorInvalidResourceHandle;
        if (levelArray == nullptr || level >= known->levels.size()) return cudaErrorInvalidValue;
        *levelArray = known->levels[level];
        return cudaSuccess;
    });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray) {
    return call([=](State& state) {
        if (mipmappedArray == nullptr) return cudaSuccess;
        {
            const std::lock_guard lock(state.mutex);
            if (state.mipmapped_arrays.erase(mipmappedArray) == 0) return cudaErrorInvalidResourceHandle;
        }
        const std::unique_ptr<cudaMipmappedArray> owned(mipmappedArray);
        cudaError_t status = cudaSuccess;
        for (cudaArray_t level : owned->levels) {
            if (const cudaError_t freed = cudaFreeArray(level); freed != cudaSuccess) status = freed;
        }
        return status;
    });
}

}  // extern "C"
