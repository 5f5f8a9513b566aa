// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that programs allocate: one reserved stretch of addresses, so that a device pointer is a host
// pointer and unified addressing needs no table; with gaps between allocations, so that an access past an
// end is known for one. What it would meet on a GPU, DriverLayout tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emulation/emulator/device/driver_layout.h"
#include "emulation/emulator/exec/memory.h"

namespace trimtab::emulator {

enum class MemoryKind : std::uint8_t {
    device,
    host,  // pinned
    managed,
    registered,  // the program's own, by cudaHostRegister
    array,       // opaque: only copies and textures reach it
    mapped,      // by virtual memory management
    imported     // another process's
};

enum class MemoryAccess : std::uint8_t { none, read, read_write };

struct Allocation {
    std::uint64_t first = 0, size_bytes = 0;
    MemoryKind kind = MemoryKind::device;
    MemoryAccess access = MemoryAccess::read_write;
    int device = 0;  // current when it was allocated
    unsigned flags = 0;
    std::uint64_t id = 0;
    std::uint64_t place = 0, taken_bytes = 0;  // in the DriverLayout; of addresses, with the gap behind it

    [[nodiscard]] std::uint64_t end() const { return first + size_bytes; }
    [[nodiscard]] bool holds(std::uint64_t address) const { return address >= first && address < end(); }
};

// What kernels may access, frozen at one moment.
struct MemoryMap {
    std::vector<Allocation> allocations;  // by address
    [[nodiscard]] const Allocation* find(std::uint64_t address) const;
};

class Heap {
  public:
    Heap() = default;
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    // Zeroed memory, aligned to 512 bytes as cudaMalloc's. nullptr: no address is left.
    [[nodiscard]] std::byte* allocate(std::uint64_t size_bytes, MemoryKind kind, int device, unsigned flags);
    // `pointer` is the start of an allocation. What was there, or nothing.
    std::optional<Allocation> release(const void* pointer);
    // Memory of the program's own; false where it overlaps what is known.
    bool add_registered(void* pointer, std::uint64_t size_bytes, int device, unsigned flags);
    std::optional<Allocation> remove_registered(const void* pointer);
    // Every allocation of that device but those that were not made here: cudaDeviceReset.
    void release_device(int device);

    // Addresses without memory, for virtual memory management; nullptr: none are left. The alignment is a
    // power of two.
    [[nodiscard]] std::byte* reserve_range(std::uint64_t size_bytes, std::uint64_t alignment_bytes);
    void free_range(const void* start, std::uint64_t size_bytes);
    // Puts a file's bytes where addresses are reserved or allocated, or nothing again. False: the system
    // refuses.
    [[nodiscard]] static bool map_file(void* place, std::uint64_t size_bytes, int descriptor);
    static void unmap_file(void* place, std::uint64_t size_bytes);
    // What is accessible from `first` on, of what was mapped there.
    void show_mapped(std::uint64_t first, std::uint64_t size_bytes,
                     const std::vector<Allocation>& accessible);

    // Memory that another process can map, as `offset` of a file of so many bytes.
    struct SharedPlace {
        int descriptor = -1;  // the heap's own
        std::uint64_t file_bytes = 0, offset = 0;
    };
    // Makes the pages of an allocation those of a file, with what is in them; nothing runs on the device
    // meanwhile. Nothing: some of them are another file's already, or the system refuses.
    [[nodiscard]] std::optional<SharedPlace> share(const Allocation& allocation);
    // Memory of another process: its file, mapped; nullptr: no address is left, or the system refuses.
    [[nodiscard]] std::byte* import(const SharedPlace& place, std::uint64_t size_bytes, int device);
    void close_import(const std::byte* pointer, const SharedPlace& place);

    [[nodiscard]] std::optional<Allocation> find(const void* pointer) const;
    // Does the address belong to the reserved stretch, allocated or not?
    [[nodiscard]] bool owns(const void* pointer) const;
    [[nodiscard]] std::shared_ptr<const MemoryMap> map() const;
    // "12 bytes past the end of an allocation of 400 bytes at 0x..."
    [[nodiscard]] std::string explain(std::uint64_t address) const;
    // What a kernel meets, on a GPU, at an address of no allocation; host nullptr: no memory is mapped there.
    [[nodiscard]] GlobalMemory::Range mapped_outside(std::uint64_t address);

  private:
    // The addresses that are an access past (or before) one allocation.
    struct Surroundings {
        const Allocation* of = nullptr;
        std::uint64_t first = 0, end = 0;
    };
    [[nodiscard]] bool reserve();
    [[nodiscard]] std::uint64_t take(std::uint64_t wanted_bytes, bool in_pages);
    [[nodiscard]] Surroundings surroundings_of(std::uint64_t address) const;
    [[nodiscard]] DriverLayout& layout_of(const Allocation& allocation);
    void give_back(const Allocation& allocation);

    mutable std::mutex mutex_;
    std::byte* arena_ = nullptr;
    std::uint64_t arena_bytes_ = 0, used_bytes_ = 0;  // addresses below arena_ + used_bytes_ were given out
    std::map<std::uint64_t, Allocation> allocations_;
    std::map<std::pair<MemoryKind, int>, DriverLayout> layouts_;  // by kind and device
    std::deque<Allocation> freed_;  // the latest, for messages and to reuse them late
    std::map<std::uint64_t, std::vector<std::uint64_t>> holes_;  // size -> addresses, ready for reuse
    // Reserved ranges that were freed: by size and alignment.
    std::multimap<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> ranges_;
    // Pages that are a file's: by address.
    struct SharedPages {
        std::uint64_t bytes = 0;
        int descriptor = -1;
    };
    std::map<std::uint64_t, SharedPages> shared_;
    std::uint64_t next_id_ = 1;
    mutable std::shared_ptr<const MemoryMap> map_;
};

// The heap as kernels see it during one launch.
class HeapMemory : public GlobalMemory {
  public:
    explicit HeapMemory(Heap& heap) : heap_(heap), map_(heap.map()) {}
    [[nodiscard]] Range range_of(std::uint64_t address, Access access) override;
    [[nodiscard]] std::string explain(std::uint64_t address) const override { return heap_.explain(address); }
    [[nodiscard]] Range mapped_outside(std::uint64_t address) override {
        return heap_.mapped_outside(address);
    }

  private:
    Heap& heap_;
    std::shared_ptr<const MemoryMap> map_;
};

}  // namespace trimtab::emulator
