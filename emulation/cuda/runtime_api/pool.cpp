// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stream-ordered allocation. Work runs when it is submitted, so that an allocation is there at once, and a
// pool is an account.
#include <cuda_runtime_api.h>

#include <algorithm>

#include "emulation/cuda/graph_memory.h"
#include "emulation/cuda/memory.h"
#include "emulation/cuda/runtime_api/alias.h"
#include "emulation/cuda/state.h"

using namespace trimtab::cuda;

namespace {

template <typename Body>
cudaError_t on_pool(cudaMemPool_t pool, const Body& body) {
    return locked_call([&](State& state) {
        const bool is_default =
            std::any_of(state.devices.begin(), state.devices.end(),
                        [pool](const auto& device) { return &device->default_pool == pool; });
        return is_default || state.pools.contains(pool) ? body(state, *pool) : cudaErrorInvalidValue;
    });
}

bool is_recording(State& state, cudaStream_t handle) {
    const std::lock_guard lock(state.mutex);
    const CUstream_st* stream = state.stream(handle);
    return stream != nullptr && stream->capture != nullptr;
}

// In a capture, the allocation is a node of the graph.
cudaError_t record_allocation(State& state, void** pointer, std::size_t size, cudaStream_t stream) {
    cudaMemAllocNodeParams node{};
    node.poolProps.allocType = cudaMemAllocationTypePinned;
    node.poolProps.location = {.type = cudaMemLocationTypeDevice, .id = this_thread().device};
    node.bytesize = size;
    auto operation = allocation_operation(state, node);
    if (!operation) return operation.error();
    *pointer = node.dptr;
    return submit(state, stream, std::move(*operation));
}

cudaError_t allocate_from(cudaMemPool_t pool, void** pointer, std::size_t size, cudaStream_t stream) {
    return call([=](State& state) {
        if (pointer == nullptr || size == 0) return cudaErrorInvalidValue;
        if (is_recording(state, stream)) return record_allocation(state, pointer, size, stream);
        if (const cudaError_t status = allocate(state, *pointer, size, MemoryKind::device, 0);
            status != cudaSuccess)
            return status;
        {
            const std::lock_guard lock(state.mutex);
            CUmemPoolHandle_st& account = pool != nullptr ? *pool : *state.current().current_pool;
            account.used_bytes += size;
            account.used_high_bytes = std::max(account.used_high_bytes, account.used_bytes);
        }
        return submit(state, stream, {});
    });
}

Device* device_of(State& state, int ordinal) {
    return ordinal >= 0 && static_cast<std::size_t>(ordinal) < state.devices.size()
               ? state.devices[static_cast<std::size_t>(ordinal)].get()
               : nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t hStream) {
    return allocate_from(nullptr, devPtr, size, hStream);
}
TRIMTAB_SAME_AS(cudaMallocAsync, cudaMallocAsync_ptsz);

cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    const cudaError_t status = on_pool(memPool, [](State&, CUmemPoolHandle_st&) { return cudaSuccess; });
    return status != cudaSuccess ? status : allocate_from(memPool, ptr, size, stream);
}
TRIMTAB_SAME_AS(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz);

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
    return call([=](State& state) {
        if (devPtr == nullptr) return cudaErrorInvalidValue;
        const auto allocation = state.heap.find(devPtr);
        if (!allocation || allocation->kind != MemoryKind::device) return cudaErrorInvalidValue;
        std::expected<Operation, cudaError_t> recorded;
        {
            const std::lock_guard lock(state.mutex);
            const CUstream_st* stream = state.stream(hStream);
            if (stream == nullptr) return cudaErrorInvalidResourceHandle;
            // In a capture it is a node, and of memory of a graph's alone.
            if (stream->capture != nullptr || state.graph_memory.contains(devPtr)) {
                recorded = release_operation(state, devPtr);
                if (!recorded) return recorded.error();
            }
        }
        if (recorded->run) {
            const cudaError_t status = submit(state, hStream, std::move(*recorded));
            release_unknown_graph_memory(state);
            return status;
        }
        {
            const std::lock_guard lock(state.mutex);
            CUmemPoolHandle_st& account = *state.current().current_pool;
            account.used_bytes -= std::min<unsigned long long>(account.used_bytes, allocation->size_bytes);
        }
        return release(state, devPtr);
    });
}
TRIMTAB_SAME_AS(cudaFreeAsync, cudaFreeAsync_ptsz);

cudaError_t cudaMemPoolCreate(cudaMemPool_t* memPool, const cudaMemPoolProps* poolProps) {
    return locked_call([=](State& state) {
        if (memPool == nullptr || poolProps == nullptr || device_of(state, poolProps->location.id) == nullptr)
            return cudaErrorInvalidValue;
        auto made = std::make_unique<CUmemPoolHandle_st>();
        made->device = poolProps->location.id;
        *memPool = *state.pools.insert(made.release()).first;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) {
    return locked_call([=](State& state) {
        if (state.pools.erase(memPool) == 0) return cudaErrorInvalidValue;
        for (const auto& device : state.devices) {
            if (device->current_pool == memPool) device->current_pool = &device->default_pool;
        }
        delete memPool;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
    return locked_call([=](State& state) {
        Device* found = device_of(state, device);
        if (memPool == nullptr || found == nullptr) return cudaErrorInvalidDevice;
        *memPool = &found->default_pool;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device) {
    return locked_call([=](State& state) {
        Device* found = device_of(state, device);
        if (memPool == nullptr || found == nullptr) return cudaErrorInvalidDevice;
        *memPool = found->current_pool;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
    return on_pool(memPool, [=](State& state, CUmemPoolHandle_st& pool) {
        Device* found = device_of(state, device);
        if (found == nullptr) return cudaErrorInvalidDevice;
        found->current_pool = &pool;
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t) {
    return on_pool(memPool, [](State&, CUmemPoolHandle_st&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
    return on_pool(memPool, [=](State&, CUmemPoolHandle_st& pool) {
        if (value == nullptr) return cudaErrorInvalidValue;
        switch (attr) {
            case cudaMemPoolReuseFollowEventDependencies:
                pool.reuse_follow_event = *static_cast<int*>(value);
                return cudaSuccess;
            case cudaMemPoolReuseAllowOpportunistic:
                pool.reuse_opportunistic = *static_cast<int*>(value);
                return cudaSuccess;
            case cudaMemPoolReuseAllowInternalDependencies:
                pool.reuse_internal = *static_cast<int*>(value);
                return cudaSuccess;
            case cudaMemPoolAttrReleaseThreshold:
                pool.release_threshold = *static_cast<unsigned long long*>(value);
                return cudaSuccess;
            case cudaMemPoolAttrUsedMemHigh:
            case cudaMemPoolAttrReservedMemHigh:
                // Only a reset to zero is allowed.
                if (*static_cast<unsigned long long*>(value) != 0) return cudaErrorInvalidValue;
                pool.used_high_bytes = pool.used_bytes;
                return cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
    return on_pool(memPool, [=](State&, const CUmemPoolHandle_st& pool) {
        if (value == nullptr) return cudaErrorInvalidValue;
        auto* number = static_cast<int*>(value);
        auto* bytes = static_cast<unsigned long long*>(value);
        switch (attr) {
            case cudaMemPoolReuseFollowEventDependencies:
                *number = pool.reuse_follow_event;
                break;
            case cudaMemPoolReuseAllowOpportunistic:
                *number = pool.reuse_opportunistic;
                break;
            case cudaMemPoolReuseAllowInternalDependencies:
                *number = pool.reuse_internal;
                break;
            case cudaMemPoolAttrReleaseThreshold:
                *bytes = pool.release_threshold;
                break;
            case cudaMemPoolAttrReservedMemCurrent:
            case cudaMemPoolAttrUsedMemCurrent:
                *bytes = pool.used_bytes;
                break;
            case cudaMemPoolAttrReservedMemHigh:
            case cudaMemPoolAttrUsedMemHigh:
                *bytes = pool.used_high_bytes;
                break;
            default:
                return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc* descList, size_t count) {
    return on_pool(memPool, [=](State& state, CUmemPoolHandle_st&) {
        for (size_t i = 0; i < count; ++i) {
            if (descList == nullptr || device_of(state, descList[i].location.id) == nullptr)
                return cudaErrorInvalidValue;
        }
        return cudaSuccess;
    });
}

// Every device reads and writes what a pool gives.
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t memPool,
                                 cudaMemLocation* location) {
    return on_pool(memPool, [=](State& state, CUmemPoolHandle_st&) {
        if (flags == nullptr || location == nullptr || device_of(state, location->id) == nullptr)
            return cudaErrorInvalidValue;
        *flags = cudaMemAccessFlagsProtReadWrite;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* memPool, cudaMemLocation* location,
                                     cudaMemAllocationType) {
    if (location == nullptr || location->type != cudaMemLocationTypeDevice)
        return finish(cudaErrorNotSupported);
    return cudaDeviceGetDefaultMemPool(memPool, location->id);
}
cudaError_t cudaMemGetMemPool(cudaMemPool_t* memPool, cudaMemLocation* location, cudaMemAllocationType) {
    if (location == nullptr || location->type != cudaMemLocationTypeDevice)
        return finish(cudaErrorNotSupported);
    return cudaDeviceGetMemPool(memPool, location->id);
}
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType, cudaMemPool_t memPool) {
    if (location == nullptr || location->type != cudaMemLocationTypeDevice)
        return finish(cudaErrorNotSupported);
    return cudaDeviceSetMemPool(location->id, memPool);
}

}  // extern "C"
