// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation: device, pinned, managed, pitched; what is known of a pointer.
#include "emulation/cuda/memory.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "emulation/cuda/graph_memory.h"
#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

// Rows begin where texture and coalescing rules want them: cudaMallocPitch gives multiples of 512 bytes.
constexpr std::size_t pitch_unit = 512;

std::size_t pitch_of(std::size_t width_bytes) {
    return std::max(pitch_unit, (width_bytes + pitch_unit - 1) / pitch_unit * pitch_unit);
}

// Nothing: it is no memory of a graph's.
std::optional<cudaError_t> free_of_graph(State& state, const void* pointer) {
    cudaError_t status = cudaSuccess;
    {
        const std::lock_guard lock(state.mutex);
        if (!state.graph_memory.contains(pointer)) return std::nullopt;
        status = free_graph_memory(state, pointer);
    }
    release_unknown_graph_memory(state);
    return status;
}

cudaError_t free_of_kind(void* pointer, bool (*is_freed_by_it)(MemoryKind), cudaError_t otherwise) {
    return call([=](State& state) {
        if (pointer == nullptr) return cudaSuccess;
        const auto allocation = state.heap.find(pointer);
        if (!allocation || reinterpret_cast<void*>(allocation->first) != pointer ||
            !is_freed_by_it(allocation->kind))
            return otherwise;
        if (const auto status = free_of_graph(state, pointer)) return *status;
        return release(state, pointer);
    });
}

cudaMemoryType memory_type(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::device:
        case MemoryKind::array:
        case MemoryKind::mapped:
        case MemoryKind::imported:
            return cudaMemoryTypeDevice;
        case MemoryKind::managed:
            return cudaMemoryTypeManaged;
        case MemoryKind::host:
        case MemoryKind::registered:
            return cudaMemoryTypeHost;
    }
    return cudaMemoryTypeUnregistered;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** devPtr, size_t size) {
    return call([=](State& state) {
        if (devPtr == nullptr) return cudaErrorInvalidValue;
        if (size == 0) {
            *devPtr = nullptr;
            return cudaSuccess;
        }
        return allocate(state, *devPtr, size, MemoryKind::device, 0);
    });
}

cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned flags) {
    return call([=](State& state) {
        if (devPtr == nullptr || size == 0 ||
            (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle))
            return cudaErrorInvalidValue;
        return allocate(state, *devPtr, size, MemoryKind::managed, flags);
    });
}

cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned flags) {
    return call([=](State& state) {
        constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
        if (pHost == nullptr || (flags & ~known) != 0) return cudaErrorInvalidValue;
        if (size == 0) {
            *pHost = nullptr;
            return cudaSuccess;
        }
        return allocate(state, *pHost, size, MemoryKind::host, flags);
    });
}

cudaError_t cudaMallocHost(void** ptr, size_t size) {
    return cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height) {
    return call([=](State& state) {
        if (devPtr == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
        *pitch = pitch_of(width);
        if (width == 0 || height == 0) {
            *devPtr = nullptr;
            return cudaSuccess;
        }
        if (height > SIZE_MAX / *pitch) return cudaErrorMemoryAllocation;
        return allocate(state, *devPtr, *pitch * height, MemoryKind::device, 0);
    });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitchedDevPtr, cudaExtent extent) {
    if (pitchedDevPtr == nullptr) return finish(cudaErrorInvalidValue);
    const std::size_t depth = std::max<std::size_t>(extent.depth, 1);
    if (extent.height > SIZE_MAX / depth) return finish(cudaErrorMemoryAllocation);
    const cudaError_t status =
        cudaMallocPitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, extent.height * depth);
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return status;
}

cudaError_t cudaFree(void* devPtr) {
    return free_of_kind(
        devPtr, [](MemoryKind kind) { return kind == MemoryKind::device || kind == MemoryKind::managed; },
        cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void* ptr) {
    return free_of_kind(ptr, [](MemoryKind kind) { return kind == MemoryKind::host; }, cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return locked_call([=](State& state) {
        const Device& device = state.current();
        const std::uint64_t used = device.used_bytes + state.virtual_memory.used_bytes(device.ordinal);
        if (free != nullptr) *free = device.total_bytes() - std::min(used, device.total_bytes());
        if (total != nullptr) *total = device.total_bytes();
        return cudaSuccess;
    });
}

cudaError_t cudaHostRegister(void* ptr, size_t size, unsigned) {
    return call([=](State& state) {
        if (ptr == nullptr || size == 0) return cudaErrorInvalidValue;
        return state.heap.add_registered(ptr, size, this_thread().device, 0)
                   ? cudaSuccess
                   : cudaErrorHostMemoryAlreadyRegistered;
    });
}

cudaError_t cudaHostUnregister(void* ptr) {
    return call([=](State& state) {
        if (ptr == nullptr) return cudaErrorInvalidValue;
        wait_for_all(state);
        return state.heap.remove_registered(ptr) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
    });
}

cudaError_t cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned flags) {
    return call([=](State& state) {
        if (pDevice == nullptr || flags != 0) return cudaErrorInvalidValue;
        const auto allocation = state.heap.find(pHost);
        if (!allocation || memory_type(allocation->kind) != cudaMemoryTypeHost) return cudaErrorInvalidValue;
        *pDevice = pHost;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned* pFlags, void* pHost) {
    return call([=](State& state) {
        const auto allocation = state.heap.find(pHost);
        if (pFlags == nullptr || !allocation || allocation->kind != MemoryKind::host)
            return cudaErrorInvalidValue;
        // Under unified addressing every pinned allocation is mapped (cudaHostAlloc).
        *pFlags = allocation->flags | cudaHostAllocMapped;
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
    return locked_call([=](State& state) {
        if (attributes == nullptr) return cudaErrorInvalidValue;
        *attributes = {};
        const auto allocation = state.heap.find(ptr);
        if (allocation) {
            attributes->type = memory_type(allocation->kind);
            attributes->device = allocation->device;
            attributes->devicePointer = const_cast<void*>(ptr);
            if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = const_cast<void*>(ptr);
        } else if (state.modules.variable_bytes_at(ptr) != 0) {
            attributes->type = cudaMemoryTypeDevice;
            attributes->device = this_thread().device;
            attributes->devicePointer = const_cast<void*>(ptr);
        } else {
            attributes->type = cudaMemoryTypeUnregistered;
            attributes->device = cudaInvalidDeviceId;
            attributes->hostPointer = const_cast<void*>(ptr);
        }
        return cudaSuccess;
    });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* devPtr, size_t, unsigned) {
    return call([=](State& state) {
        if (!lies_in_managed(state, devPtr, 1)) return cudaErrorInvalidValue;
        return submit(state, stream, {});
    });
}
TRIMTAB_SAME_AS(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz);

}  // extern "C"
