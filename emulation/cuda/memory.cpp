// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/memory.h"

#include <algorithm>

namespace trimtab::cuda {
namespace {

bool counts_against_device(MemoryKind kind) {
    return kind != MemoryKind::host && kind != MemoryKind::registered;
}

}  // namespace

cudaError_t allocate(State& state, void*& pointer, std::size_t size_bytes, MemoryKind kind, unsigned flags) {
    const std::lock_guard lock(state.mutex);
    Device& device = state.current();
    // Managed memory may be larger than the device's, where pages move on demand; its start does not count.
    if (kind == MemoryKind::device || kind == MemoryKind::array) {
        const std::uint64_t left = device.total_bytes() - std::min(device.used_bytes, device.total_bytes());
        if (size_bytes > left) return cudaErrorMemoryAllocation;
    }
    std::byte* start = state.heap.allocate(size_bytes, kind, device.ordinal, flags);
    if (start == nullptr) return cudaErrorMemoryAllocation;
    if (counts_against_device(kind)) device.used_bytes += size_bytes;
    note_allocation(state.checker.get(), start, size_bytes, kind);
    pointer = start;
    return cudaSuccess;
}

void wait_for_all(State& state) {
    for (const auto& device : state.devices) wait_for_execution(*device);
}

cudaError_t release(State& state, void* pointer) {
    wait_for_all(state);
    const auto released = state.heap.release(pointer);
    if (!released) return cudaErrorInvalidValue;
    note_release(state.checker.get(), pointer);
    const std::lock_guard lock(state.mutex);
    Device& device = *state.devices[static_cast<std::size_t>(released->device)];
    if (counts_against_device(released->kind))
        device.used_bytes -= std::min(device.used_bytes, released->size_bytes);
    return cudaSuccess;
}

bool lies_in_managed(const State& state, const void* pointer, std::size_t size_bytes) {
    const auto allocation = state.heap.find(pointer);
    if (!allocation || allocation->kind != MemoryKind::managed) return false;
    return size_bytes <= allocation->end() - reinterpret_cast<std::uint64_t>(pointer);
}

}  // namespace trimtab::cuda
