// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Virtual memory management: reserve, create, map, allow.
#include "emulation/cuda/virtual_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include "emulation/cuda/driver_api/call.h"
#include "emulation/cuda/memory.h"

using namespace trimtab::cuda::driver;
using trimtab::cuda::MemoryAccess;
using trimtab::cuda::PhysicalMemory;
using trimtab::cuda::virtual_memory_granularity_bytes;
using trimtab::cuda::VirtualMemory;

namespace {

template <typename Body>
CUresult on_virtual_memory(const Body& body) {
    return context_call([&](State& state) {
        const std::lock_guard lock(state.mutex);
        return body(state, state.virtual_memory);
    });
}

std::byte* place(CUdeviceptr pointer) {
    return static_cast<std::byte*>(host(pointer));
}

bool is_of_device(State& state, const CUmemLocation& location) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_at(state, location.id) != nullptr;
}

bool is_allocatable(State& state, const CUmemAllocationProp& properties) {
    return properties.type == CU_MEM_ALLOCATION_TYPE_PINNED && is_of_device(state, properties.location);
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
    return on_virtual_memory([=](State& state, VirtualMemory&) {
        if (granularity == nullptr || prop == nullptr || !is_allocatable(state, *prop) ||
            (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
            return CUDA_ERROR_INVALID_VALUE;
        *granularity = virtual_memory_granularity_bytes;
        return CUDA_SUCCESS;
    });
}

// `addr` is a hint.
CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
    return on_virtual_memory([=](State& state, VirtualMemory& memory) {
        if (ptr == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        const auto reserved = memory.reserve(state.heap, size, alignment);
        if (!reserved) return reserved.error();
        *ptr = reinterpret_cast<CUdeviceptr>(*reserved);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    return on_virtual_memory(
        [=](State& state, VirtualMemory& memory) { return memory.free(state.heap, host(ptr), size); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* prop,
                     unsigned long long flags) {
    return on_virtual_memory([=](State& state, VirtualMemory& memory) {
        if (handle == nullptr || prop == nullptr || size == 0 || flags != 0 ||
            size % virtual_memory_granularity_bytes != 0)
            return CUDA_ERROR_INVALID_VALUE;
        if (!is_allocatable(state, *prop)) return CUDA_ERROR_INVALID_DEVICE;
        if ((prop->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0)
            return CUDA_ERROR_NOT_SUPPORTED;
        const Device& device = *device_at(state, prop->location.id);
        const std::uint64_t used = device.used_bytes + memory.used_bytes(device.ordinal);
        if (size > device.total_bytes() - std::min(used, device.total_bytes()))
            return CUDA_ERROR_OUT_OF_MEMORY;
        auto made = PhysicalMemory::make(size, *prop);
        if (made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        *handle = memory.add_handle(std::move(made));
        return CUDA_SUCCESS;
    });
}

// What is mapped stays until it is unmapped.
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return on_virtual_memory([=](State&, VirtualMemory& memory) {
        return memory.release_handle(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    return on_virtual_memory([=](State& state, VirtualMemory& memory) {
        auto found = memory.find(handle);
        if (found == nullptr || offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        return memory.map(state.heap, place(ptr), size, std::move(found));
    });
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    return context_call([=](State& state) {
        // Kernels may be using it.
        trimtab::cuda::wait_for_all(state);
        const std::lock_guard lock(state.mutex);
        return state.virtual_memory.unmap(state.heap, place(ptr), size);
    });
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count) {
    return on_virtual_memory([=](State& state, VirtualMemory& memory) {
        if (desc == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
        for (size_t i = 0; i < count; ++i) {
            if (!is_of_device(state, desc[i].location)) return CUDA_ERROR_INVALID_DEVICE;
        }
        for (size_t i = 0; i < count; ++i) {
            const auto access = desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? MemoryAccess::read_write
                                : desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? MemoryAccess::read
                                                                                    : MemoryAccess::none;
            const CUresult result =
                memory.set_access(state.heap, place(ptr), size, desc[i].location.id, access);
            if (result != CUDA_SUCCESS) return result;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr) {
    return on_virtual_memory([=](State& state, VirtualMemory& memory) {
        if (flags == nullptr || location == nullptr || !is_of_device(state, *location) ||
            memory.mapped_at(host(ptr)) == nullptr)
            return CUDA_ERROR_INVALID_VALUE;
        switch (memory.access(place(ptr), location->id)) {
            case MemoryAccess::none:
                *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
                break;
            case MemoryAccess::read:
                *flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
                break;
            case MemoryAccess::read_write:
                *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
                break;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
    return on_virtual_memory([=](State&, VirtualMemory& memory) {
        auto found = memory.mapped_at(addr);
        if (handle == nullptr || found == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *handle = memory.add_handle(std::move(found));
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) {
    return on_virtual_memory([=](State&, VirtualMemory& memory) {
        const auto found = memory.find(handle);
        if (prop == nullptr || found == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *prop = found->properties();
        return CUDA_SUCCESS;
    });
}

// The descriptor is the program's, who closes it or hands it to another process.
CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType, unsigned long long flags) {
    return on_virtual_memory([=](State&, VirtualMemory& memory) {
        const auto found = memory.find(handle);
        if (shareableHandle == nullptr || found == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
        if (found->properties().requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
            return CUDA_ERROR_INVALID_VALUE;
        const int descriptor = fcntl(found->descriptor(), F_DUPFD_CLOEXEC, 0);
        if (descriptor < 0) return CUDA_ERROR_OPERATING_SYSTEM;
        *static_cast<int*>(shareableHandle) = descriptor;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) {
    return on_virtual_memory([=](State&, VirtualMemory& memory) {
        if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
        auto imported = PhysicalMemory::import(static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle)));
        if (imported == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *handle = memory.add_handle(std::move(imported));
        return CUDA_SUCCESS;
    });
}

}  // extern "C"
