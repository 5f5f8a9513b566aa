// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation through the driver API, and what is known of a pointer.
#include <algorithm>
#include <cstring>

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/runtime_api/alias.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::Allocation;
using trimtab::cuda::MemoryKind;

namespace {

// The runtime's calls take void** where the driver's take a number of the same size.
void** as_pointer(CUdeviceptr* pointer) {
    return reinterpret_cast<void**>(pointer);
}

CUmemorytype type_of(MemoryKind kind) {
    return kind == MemoryKind::host || kind == MemoryKind::registered ? CU_MEMORYTYPE_HOST
                                                                      : CU_MEMORYTYPE_DEVICE;
}

CUcontext context_of(State& state, int device) {
    for (CUcontext context : this_thread().contexts) {
        if (context->device == device) return context;
    }
    return &state.devices[static_cast<std::size_t>(device)]->primary;
}

template <typename T>
CUresult give(void* data, const T& value) {
    std::memcpy(data, static_cast<const void*>(&value), sizeof(T));
    return CUDA_SUCCESS;
}

CUresult attribute_of_pointer(State& state, void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto allocation = state.heap.find(host(pointer));
    if (!allocation) {
        // A module's variable: device memory of its own.
        const std::lock_guard lock(state.mutex);
        const std::uint64_t bytes = state.modules.variable_bytes_at(host(pointer));
        if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        allocation = Allocation{.first = pointer,
                                .size_bytes = bytes,
                                .kind = MemoryKind::device,
                                .device = this_thread().device,
                                .flags = 0,
                                .id = 0};
    }
    const bool is_host = type_of(allocation->kind) == CU_MEMORYTYPE_HOST;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            return give(data, context_of(state, allocation->device));
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return give(data, static_cast<unsigned>(type_of(allocation->kind)));
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return give(data, pointer);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (!is_host && allocation->kind != MemoryKind::managed) return CUDA_ERROR_INVALID_VALUE;
            return give(data, host(pointer));
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return give(data, 0U);
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            return give(data, static_cast<unsigned long long>(allocation->id));
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return give(data, allocation->kind == MemoryKind::managed ? 1U : 0U);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return give(data, allocation->device);
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return give(data, static_cast<CUdeviceptr>(allocation->first));
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return give(data, static_cast<std::size_t>(allocation->size_bytes));
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return give(data, 1U);
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            return give(data, 0U);
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            return give(data, 0ULL);
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            return give(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            return give(data, CUmemoryPool{nullptr});
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

cudaMemLocation location_of(const CUmemLocation& location) {
    return {.type = static_cast<cudaMemLocationType>(location.type), .id = location.id};
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    return forward(cudaMemGetInfo, free, total);
}

CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize) {
    return context_call([=](State&) {
        return dptr == nullptr || bytesize == 0 ? cudaErrorInvalidValue
                                                : cudaMalloc(as_pointer(dptr), bytesize);
    });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t widthInBytes, size_t height,
                            unsigned elementSizeBytes) {
    return context_call([=](State&) {
        if (elementSizeBytes != 4 && elementSizeBytes != 8 && elementSizeBytes != 16)
            return cudaErrorInvalidValue;
        return cudaMallocPitch(as_pointer(dptr), pPitch, widthInBytes, height);
    });
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned flags) {
    return context_call([=](State&) { return cudaMallocManaged(as_pointer(dptr), bytesize, flags); });
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
    return forward(cudaFree, host(dptr));
}
CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) {
    return context_call([=](State&) { return cudaMallocHost(pp, bytesize); });
}
CUresult cuMemFreeHost(void* p) {
    return forward(cudaFreeHost, p);
}
CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned flags) {
    return context_call([=](State&) { return cudaHostAlloc(pp, bytesize, flags); });
}
CUresult cuMemHostRegister_v2(void* p, size_t bytesize, unsigned flags) {
    return forward(cudaHostRegister, p, bytesize, flags);
}
CUresult cuMemHostUnregister(void* p) {
    return forward(cudaHostUnregister, p);
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned flags) {
    return context_call([=](State&) { return cudaHostGetDevicePointer(as_pointer(pdptr), p, flags); });
}
CUresult cuMemHostGetFlags(unsigned* pFlags, void* p) {
    return forward(cudaHostGetFlags, pFlags, p);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
    return context_call([=](State& state) {
        const auto allocation = state.heap.find(host(dptr));
        if (!allocation) return CUDA_ERROR_NOT_FOUND;
        if (pbase != nullptr) *pbase = allocation->first;
        if (psize != nullptr) *psize = allocation->size_bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    return initialised_call([=](State& state) { return attribute_of_pointer(state, data, attribute, ptr); });
}

// Attributes that a pointer has not are zero here, and the call succeeds.
CUresult cuPointerGetAttributes(unsigned numAttributes, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr ptr) {
    return initialised_call([=](State& state) {
        if (attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
        for (unsigned i = 0; i < numAttributes; ++i) {
            if (attribute_of_pointer(state, data[i], attributes[i], ptr) == CUDA_SUCCESS) continue;
            if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
            const bool is_wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                                 attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                                 attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                                 attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                                 attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE ||
                                 attributes[i] == CU_POINTER_ATTRIBUTE_BUFFER_ID;
            std::memset(data[i], 0, is_wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
        }
        return CUDA_SUCCESS;
    });
}

// The one attribute that can be set makes copies synchronous, and they are.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    return initialised_call([=](const State& state) {
        return value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                       state.heap.find(host(ptr)).has_value()
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
    return forward(cudaMemAdvise, host(devPtr), count, static_cast<cudaMemoryAdvise>(advice),
                   location_of(location));
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned flags,
                               CUstream hStream) {
    return forward(cudaMemPrefetchAsync, host(devPtr), count, location_of(location), flags, hStream);
}
TRIMTAB_SAME_AS(cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz);

#undef cuMemAdvise
#undef cuMemPrefetchAsync
// CUDA 12's forms name a device, or CU_DEVICE_CPU.
CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
    const CUmemLocation location{
        .type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
        .id = std::max(device, 0)};
    return cuMemAdvise_v2(devPtr, count, advice, location);
}
CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
    const CUmemLocation location{
        .type = dstDevice == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE,
        .id = std::max(dstDevice, 0)};
    return cuMemPrefetchAsync_v2(devPtr, count, location, 0, hStream);
}
TRIMTAB_SAME_AS(cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz);

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count) {
    return forward(cudaMemRangeGetAttribute, data, dataSize, static_cast<cudaMemRangeAttribute>(attribute),
                   host(devPtr), count);
}
CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
    return context_call([=](State&) {
        return cudaMemRangeGetAttributes(data, dataSizes,
                                         reinterpret_cast<cudaMemRangeAttribute*>(attributes), numAttributes,
                                         host(devPtr), count);
    });
}

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
    return context_call([=](State&) { return cudaMallocAsync(as_pointer(dptr), bytesize, hStream); });
}
TRIMTAB_SAME_AS(cuMemAllocAsync, cuMemAllocAsync_ptsz);
CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    return forward(cudaFreeAsync, host(dptr), hStream);
}
TRIMTAB_SAME_AS(cuMemFreeAsync, cuMemFreeAsync_ptsz);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
    return context_call(
        [=](State&) { return cudaMallocFromPoolAsync(as_pointer(dptr), bytesize, pool, hStream); });
}
TRIMTAB_SAME_AS(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz);

// The structures and numbers of pools are the same in both interfaces.
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
    static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
    return forward(cudaMemPoolCreate, pool, reinterpret_cast<const cudaMemPoolProps*>(poolProps));
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    return forward(cudaMemPoolDestroy, pool);
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    return forward(cudaMemPoolTrimTo, pool, minBytesToKeep);
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
    return forward(cudaMemPoolSetAttribute, pool, static_cast<cudaMemPoolAttr>(attr), value);
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
    return forward(cudaMemPoolGetAttribute, pool, static_cast<cudaMemPoolAttr>(attr), value);
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
    static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
    return forward(cudaMemPoolSetAccess, pool, reinterpret_cast<const cudaMemAccessDesc*>(map), count);
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool memPool, CUmemLocation* location) {
    return forward(cudaMemPoolGetAccess, reinterpret_cast<cudaMemAccessFlags*>(flags), memPool,
                   reinterpret_cast<cudaMemLocation*>(location));
}

}  // extern "C"
