// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/virtual_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace trimtab::cuda {
namespace {

std::uint64_t address_value(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

bool is_multiple(std::uint64_t value) {
    return value % virtual_memory_granularity_bytes == 0;
}

}  // namespace

std::shared_ptr<PhysicalMemory> PhysicalMemory::make(std::uint64_t size_bytes,
                                                     const CUmemAllocationProp& properties) {
    const int descriptor = memfd_create("trimtab", MFD_CLOEXEC);
    if (descriptor < 0) return nullptr;
    std::shared_ptr<PhysicalMemory> memory(new PhysicalMemory(descriptor, size_bytes, properties));
    return ftruncate(descriptor, static_cast<off_t>(size_bytes)) == 0 ? memory : nullptr;
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::import(int descriptor) {
    struct stat about{};
    if (fstat(descriptor, &about) != 0 || about.st_size <= 0 ||
        !is_multiple(static_cast<std::uint64_t>(about.st_size)))
        return nullptr;
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return nullptr;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    return std::shared_ptr<PhysicalMemory>(
        new PhysicalMemory(own, static_cast<std::uint64_t>(about.st_size), properties));
}

PhysicalMemory::~PhysicalMemory() {
    close(descriptor_);
}

std::expected<std::byte*, CUresult> VirtualMemory::reserve(Heap& heap, std::uint64_t size_bytes,
                                                           std::uint64_t alignment_bytes) {
    if (alignment_bytes == 0) alignment_bytes = virtual_memory_granularity_bytes;
    if (size_bytes == 0 || !is_multiple(size_bytes) || (alignment_bytes & (alignment_bytes - 1)) != 0)
        return std::unexpected(CUDA_ERROR_INVALID_VALUE);
    std::byte* start =
        heap.reserve_range(size_bytes, std::max(alignment_bytes, virtual_memory_granularity_bytes));
    if (start == nullptr) return std::unexpected(CUDA_ERROR_OUT_OF_MEMORY);
    reserved_[address_value(start)] = size_bytes;
    return start;
}

CUresult VirtualMemory::free(Heap& heap, const void* start, std::uint64_t size_bytes) {
    const auto place = reserved_.find(address_value(start));
    if (place == reserved_.end() || place->second != size_bytes) return CUDA_ERROR_INVALID_VALUE;
    const auto mapped = mappings_.lower_bound(place->first);
    if (mapped != mappings_.end() && mapped->first < place->first + size_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    heap.free_range(start, size_bytes);
    reserved_.erase(place);
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(Heap& heap, std::byte* place, std::uint64_t size_bytes,
                            std::shared_ptr<PhysicalMemory> memory) {
    const std::uint64_t first = address_value(place);
    if (size_bytes == 0 || !is_multiple(first) || !is_multiple(size_bytes) ||
        size_bytes > memory->size_bytes())
        return CUDA_ERROR_INVALID_VALUE;
    auto reservation = reserved_.upper_bound(first);
    if (reservation == reserved_.begin()) return CUDA_ERROR_INVALID_VALUE;
    --reservation;
    if (first - reservation->first > reservation->second ||
        size_bytes > reservation->second - (first - reservation->first))
        return CUDA_ERROR_INVALID_VALUE;
    const auto next = mappings_.lower_bound(first);
    if (next != mappings_.end() && next->first < first + size_bytes) return CUDA_ERROR_INVALID_VALUE;
    if (next != mappings_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second.size_bytes > first) return CUDA_ERROR_INVALID_VALUE;
    }
    if (!heap.map_file(place, size_bytes, memory->descriptor())) return CUDA_ERROR_OUT_OF_MEMORY;
    mappings_[first] = {.size_bytes = size_bytes, .memory = std::move(memory), .access = {}};
    return CUDA_SUCCESS;
}

std::pair<VirtualMemory::Mappings::iterator, VirtualMemory::Mappings::iterator> VirtualMemory::that_make_up(
    std::uint64_t first, std::uint64_t size_bytes) {
    const auto begin = mappings_.find(first);
    auto end = begin;
    std::uint64_t at = first;
    while (end != mappings_.end() && end->first == at && at < first + size_bytes) {
        at += end->second.size_bytes;
        ++end;
    }
    return at == first + size_bytes ? std::pair(begin, end) : std::pair(mappings_.end(), mappings_.end());
}

CUresult VirtualMemory::unmap(Heap& heap, std::byte* place, std::uint64_t size_bytes) {
    const auto [begin, end] = that_make_up(address_value(place), size_bytes);
    if (begin == end) return CUDA_ERROR_INVALID_VALUE;
    mappings_.erase(begin, end);
    show(heap, address_value(place));
    heap.unmap_file(place, size_bytes);
    return CUDA_SUCCESS;
}

CUresult VirtualMemory::set_access(Heap& heap, std::byte* place, std::uint64_t size_bytes, int device,
                                   MemoryAccess access) {
    const auto [begin, end] = that_make_up(address_value(place), size_bytes);
    if (begin == end) return CUDA_ERROR_INVALID_VALUE;
    for (auto mapping = begin; mapping != end; ++mapping) mapping->second.access[device] = access;
    show(heap, address_value(place));
    return CUDA_SUCCESS;
}

MemoryAccess VirtualMemory::access(const std::byte* place, int device) const {
    auto mapping = mappings_.upper_bound(address_value(place));
    if (mapping == mappings_.begin()) return MemoryAccess::none;
    --mapping;
    if (address_value(place) >= mapping->first + mapping->second.size_bytes) return MemoryAccess::none;
    const auto found = mapping->second.access.find(device);
    return found == mapping->second.access.end() ? MemoryAccess::none : found->second;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::mapped_at(const void* place) const {
    auto mapping = mappings_.upper_bound(address_value(place));
    if (mapping == mappings_.begin()) return nullptr;
    --mapping;
    const bool is_there = address_value(place) < mapping->first + mapping->second.size_bytes;
    return is_there ? mapping->second.memory : nullptr;
}

void VirtualMemory::show(Heap& heap, std::uint64_t address) const {
    const auto reservation = std::prev(reserved_.upper_bound(address));
    const std::uint64_t end = reservation->first + reservation->second;
    std::vector<Allocation> accessible;
    for (auto mapping = mappings_.lower_bound(reservation->first);
         mapping != mappings_.end() && mapping->first < end; ++mapping) {
        // The emulated devices of a process see one memory: what one of them may do, all may.
        MemoryAccess access = MemoryAccess::none;
        int device = 0;
        for (const auto& [of, allowed] : mapping->second.access) {
            if (allowed <= access) continue;
            access = allowed;
            device = of;
        }
        if (access == MemoryAccess::none) continue;
        if (!accessible.empty() && accessible.back().end() == mapping->first &&
            accessible.back().access == access) {
            accessible.back().size_bytes += mapping->second.size_bytes;
            continue;
        }
        accessible.push_back({.first = mapping->first,
                              .size_bytes = mapping->second.size_bytes,
                              .kind = MemoryKind::mapped,
                              .access = access,
                              .device = device});
    }
    heap.show_mapped(reservation->first, reservation->second, accessible);
}

std::uint64_t VirtualMemory::used_bytes(int device) const {
    std::set<const PhysicalMemory*> counted;
    std::uint64_t bytes = 0;
    const auto count = [&](const PhysicalMemory& memory) {
        if (memory.properties().location.id == device && counted.insert(&memory).second)
            bytes += memory.size_bytes();
    };
    for (const auto& [handle, memory] : handles_) count(*memory);
    for (const auto& [address, mapping] : mappings_) count(*mapping.memory);
    return bytes;
}

CUmemGenericAllocationHandle VirtualMemory::add_handle(std::shared_ptr<PhysicalMemory> memory) {
    handles_[next_handle_] = std::move(memory);
    return next_handle_++;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::find(CUmemGenericAllocationHandle handle) const {
    const auto found = handles_.find(handle);
    return found == handles_.end() ? nullptr : found->second;
}

bool VirtualMemory::release_handle(CUmemGenericAllocationHandle handle) {
    return handles_.erase(handle) > 0;
}

}  // namespace trimtab::cuda
