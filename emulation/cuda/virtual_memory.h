// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Virtual memory management, as the driver API has it: addresses are reserved apart from memory, and one
// piece of memory may be mapped at several of them. Memory is a file without a name, so that other processes
// can map it, too.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <vector>

#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

// What cuMemGetAllocationGranularity tells, as of today's GPUs.
constexpr std::uint64_t virtual_memory_granularity_bytes = std::uint64_t{2} << 20;

// Memory that cuMemCreate made. Freed with its last handle and mapping.
class PhysicalMemory {
  public:
    // Null: the system has no more.
    [[nodiscard]] static std::shared_ptr<PhysicalMemory> make(std::uint64_t size_bytes,
                                                              const CUmemAllocationProp& properties);
    // Of another process: takes a copy of the descriptor.
    [[nodiscard]] static std::shared_ptr<PhysicalMemory> import(int descriptor);
    PhysicalMemory(const PhysicalMemory&) = delete;
    PhysicalMemory& operator=(const PhysicalMemory&) = delete;
    ~PhysicalMemory();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
    [[nodiscard]] const CUmemAllocationProp& properties() const { return properties_; }

  private:
    PhysicalMemory(int descriptor, std::uint64_t size_bytes, const CUmemAllocationProp& properties)
        : descriptor_(descriptor), size_bytes_(size_bytes), properties_(properties) {}

    int descriptor_;
    std::uint64_t size_bytes_;
    CUmemAllocationProp properties_;
};

// All that this process has reserved and mapped. Its callers hold State::mutex.
class VirtualMemory {
  public:
    // An alignment of 0 is the granularity.
    [[nodiscard]] std::expected<std::byte*, CUresult> reserve(Heap& heap, std::uint64_t size_bytes,
                                                              std::uint64_t alignment_bytes);
    // All that was reserved at `start`, with nothing mapped there.
    CUresult free(Heap& heap, const void* start, std::uint64_t size_bytes);

    CUresult map(Heap& heap, std::byte* place, std::uint64_t size_bytes,
                 std::shared_ptr<PhysicalMemory> memory);
    CUresult unmap(Heap& heap, std::byte* place, std::uint64_t size_bytes);
    // Of whole mappings, one after the other.
    CUresult set_access(Heap& heap, std::byte* place, std::uint64_t size_bytes, int device,
                        MemoryAccess access);
    [[nodiscard]] MemoryAccess access(const std::byte* place, int device) const;
    // What is mapped there; null: nothing.
    [[nodiscard]] std::shared_ptr<PhysicalMemory> mapped_at(const void* place) const;

    // Of memory that cuMemCreate made there and that a handle or a mapping keeps.
    [[nodiscard]] std::uint64_t used_bytes(int device) const;

    [[nodiscard]] CUmemGenericAllocationHandle add_handle(std::shared_ptr<PhysicalMemory> memory);
    [[nodiscard]] std::shared_ptr<PhysicalMemory> find(CUmemGenericAllocationHandle handle) const;
    [[nodiscard]] bool release_handle(CUmemGenericAllocationHandle handle);

  private:
    struct Mapping {
        std::uint64_t size_bytes = 0;
        std::shared_ptr<PhysicalMemory> memory;
        std::map<int, MemoryAccess> access;  // by device
    };
    using Mappings = std::map<std::uint64_t, Mapping>;
    // The mappings that make up exactly this range; an empty range of them: none do.
    [[nodiscard]] std::pair<Mappings::iterator, Mappings::iterator> that_make_up(std::uint64_t first,
                                                                                 std::uint64_t size_bytes);
    // Tells the heap what may be accessed in the reservation that holds the address: mappings that follow
    // each other and allow the same are as one.
    void show(Heap& heap, std::uint64_t address) const;

    std::map<std::uint64_t, std::uint64_t> reserved_;  // address -> bytes
    Mappings mappings_;
    std::map<CUmemGenericAllocationHandle, std::shared_ptr<PhysicalMemory>> handles_;
    CUmemGenericAllocationHandle next_handle_ = 1;
};

}  // namespace trimtab::cuda
