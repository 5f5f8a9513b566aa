// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/heap.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/align_up.h"

namespace trimtab::emulator {
namespace {

constexpr std::uint64_t system_page_bytes = 4096;
constexpr std::uint64_t large_bytes =
    64 * 1024;  // from here on, whole pages, returned to the system when freed
constexpr std::uint64_t largest_arena_bytes = std::uint64_t{1} << 42;
constexpr std::uint64_t smallest_arena_bytes = std::uint64_t{1} << 32;
// Freed addresses rest for as many frees, so that a stale pointer meets nothing for a while.
constexpr std::size_t resting_frees = 1024;

// Small allocations, each in pages of its own, would take a program that makes very many of them too much memory.
constexpr std::size_t many_allocations = 16384;
constexpr std::uint64_t small_gap_bytes = 8 * 1024, smallest_gap_bytes = 512;
constexpr std::uint64_t large_gap_bytes = std::uint64_t{2} << 20;

// The addresses that an allocation takes: its block in the driver's layout, and a gap behind it, in which an
// access past the end is known for one.
std::uint64_t taken_bytes(std::uint64_t size_bytes, std::size_t allocations) {
    const std::uint64_t block = DriverLayout::taken_bytes(size_bytes);
    if (size_bytes < large_bytes)
        return block + (allocations < many_allocations ? small_gap_bytes : smallest_gap_bytes);
    return base::align_up(block + std::min(block / 2, large_gap_bytes), system_page_bytes);
}

// How much of the gap behind an allocation is "before the next one".
std::uint64_t before_next_bytes(const Allocation& allocation) {
    return (allocation.taken_bytes - DriverLayout::taken_bytes(allocation.size_bytes)) / 4;
}

std::uint64_t address_value(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

// Is it memory that the heap gave, and takes back?
bool is_heaps_own(MemoryKind kind) {
    return kind != MemoryKind::registered && kind != MemoryKind::mapped && kind != MemoryKind::imported;
}

template <typename Map>
auto last_at_or_below(Map& map, std::uint64_t address) {
    auto place = map.upper_bound(address);
    return place == map.begin() ? map.end() : std::prev(place);
}

}  // namespace

const Allocation* MemoryMap::find(std::uint64_t address) const {
    const auto after = std::upper_bound(
        allocations.begin(), allocations.end(), address,
        [](std::uint64_t value, const Allocation& allocation) { return value < allocation.first; });
    if (after == allocations.begin()) return nullptr;
    const Allocation& candidate = *std::prev(after);
    return candidate.holds(address) ? &candidate : nullptr;
}

GlobalMemory::Range HeapMemory::range_of(std::uint64_t address, Access access) {
    const Allocation* allocation = map_->find(address);
    if (allocation == nullptr || allocation->kind == MemoryKind::array) return {};
    if (allocation->access == MemoryAccess::read && access != Access::read) return {};
    return {.first = allocation->first,
            .end = allocation->end(),
            .host = reinterpret_cast<std::byte*>(allocation->first)};
}

Heap::~Heap() {
    if (arena_ != nullptr) munmap(arena_, arena_bytes_);
}

// As many addresses as the system gives: where it limits them (ulimit -v), a smaller stretch will do.
bool Heap::reserve() {
    if (arena_ != nullptr) return true;
    for (std::uint64_t size = largest_arena_bytes; size >= smallest_arena_bytes; size /= 2) {
        void* place =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED) continue;
        // A crash dump must not hold the whole stretch, and huge pages suit neither gaps nor sparse use.
        madvise(place, size, MADV_DONTDUMP);
        arena_ = static_cast<std::byte*>(place);
        arena_bytes_ = size;
        // The first granule stays free: no allocation begins where the stretch does.
        used_bytes_ = system_page_bytes;
        return true;
    }
    return false;
}

// 0: no address is left.
std::uint64_t Heap::take(std::uint64_t wanted, bool in_pages) {
    const auto hole = holes_.find(wanted);
    if (hole != holes_.end()) {
        const std::uint64_t address = hole->second.back();
        hole->second.pop_back();
        if (hole->second.empty()) holes_.erase(hole);
        return address;
    }
    std::uint64_t start = used_bytes_;
    if (in_pages) start = base::align_up(start, system_page_bytes);
    if (wanted > arena_bytes_ || start > arena_bytes_ - wanted) return 0;
    used_bytes_ = start + wanted;
    return address_value(arena_) + start;
}

std::byte* Heap::allocate(std::uint64_t size_bytes, MemoryKind kind, int device, unsigned flags) {
    const std::lock_guard lock(mutex_);
    if (!reserve() || size_bytes > arena_bytes_) return nullptr;
    const std::uint64_t taken = taken_bytes(size_bytes, allocations_.size());
    const bool in_pages = size_bytes >= large_bytes;
    std::uint64_t address = take(taken, in_pages);
    if (address == 0) {
        // The last resort: addresses that were to rest longer.
        for (const Allocation& allocation : freed_)
            holes_[allocation.taken_bytes].push_back(allocation.first);
        freed_.clear();
        address = take(taken, in_pages);
        if (address == 0) return nullptr;
    }
    Allocation made{.first = address,
                    .size_bytes = size_bytes,
                    .kind = kind,
                    .device = device,
                    .flags = flags,
                    .id = next_id_++,
                    .taken_bytes = taken};
    made.place = layout_of(made).place(size_bytes, address);
    allocations_[address] = made;
    map_.reset();
    return reinterpret_cast<std::byte*>(address);
}

void Heap::give_back(const Allocation& allocation) {
    auto* start = reinterpret_cast<std::byte*>(allocation.first);
    layout_of(allocation).release(allocation.place, start);
    // Kernels may have written past its end, to the end of its block.
    const std::uint64_t block_bytes = DriverLayout::taken_bytes(allocation.size_bytes);
    const auto shared = shared_.find(allocation.first);
    if (shared != shared_.end() && allocation.size_bytes >= large_bytes) {
        // The others keep the file.
        unmap_file(start, shared->second.bytes);
        close(shared->second.descriptor);
        shared_.erase(shared);
    }
    if (allocation.size_bytes >= large_bytes)
        madvise(start, base::align_up(block_bytes, system_page_bytes), MADV_DONTNEED);
    else
        std::fill_n(start, block_bytes, std::byte{0});
    freed_.push_back(allocation);
    if (freed_.size() > resting_frees) {
        const Allocation& rested = freed_.front();
        holes_[rested.taken_bytes].push_back(rested.first);
        freed_.pop_front();
    }
    map_.reset();
}

std::optional<Allocation> Heap::release(const void* pointer) {
    const std::lock_guard lock(mutex_);
    const auto place = allocations_.find(address_value(pointer));
    if (place == allocations_.end() || !is_heaps_own(place->second.kind)) return std::nullopt;
    const Allocation allocation = place->second;
    allocations_.erase(place);
    give_back(allocation);
    return allocation;
}

void Heap::release_device(int device) {
    const std::lock_guard lock(mutex_);
    for (auto place = allocations_.begin(); place != allocations_.end();) {
        if (place->second.device != device || !is_heaps_own(place->second.kind)) {
            ++place;
            continue;
        }
        give_back(place->second);
        place = allocations_.erase(place);
    }
}

std::byte* Heap::reserve_range(std::uint64_t size_bytes, std::uint64_t alignment_bytes) {
    const std::lock_guard lock(mutex_);
    if (!reserve() || size_bytes > arena_bytes_) return nullptr;
    if (const auto hole = ranges_.lower_bound({size_bytes, alignment_bytes});
        hole != ranges_.end() && hole->first.first == size_bytes) {
        const std::uint64_t address = hole->second;
        ranges_.erase(hole);
        return reinterpret_cast<std::byte*>(address);
    }
    const std::uint64_t base = address_value(arena_);
    const std::uint64_t start = base::align_up(base + used_bytes_, alignment_bytes) - base;
    // A gap behind it, as behind allocations.
    const std::uint64_t wanted = size_bytes + system_page_bytes;
    if (start > arena_bytes_ || wanted > arena_bytes_ - start) return nullptr;
    used_bytes_ = start + wanted;
    return reinterpret_cast<std::byte*>(base + start);
}

void Heap::free_range(const void* start, std::uint64_t size_bytes) {
    const std::lock_guard lock(mutex_);
    // For the next one that wants as much: with the strictest alignment that it happens to have.
    const std::uint64_t address = address_value(start);
    ranges_.emplace(std::pair(size_bytes, address & (~address + 1)), address);
}

std::optional<Heap::SharedPlace> Heap::share(const Allocation& allocation) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t first = allocation.first / system_page_bytes * system_page_bytes;
    const std::uint64_t bytes = base::align_up(allocation.end(), system_page_bytes) - first;
    if (const auto known = last_at_or_below(shared_, first);
        known != shared_.end() && first + bytes <= known->first + known->second.bytes)
        return SharedPlace{.descriptor = known->second.descriptor,
                           .file_bytes = known->second.bytes,
                           .offset = allocation.first - known->first};
    const auto next = shared_.lower_bound(first);
    if (next != shared_.end() && next->first < first + bytes) return std::nullopt;
    if (next != shared_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > first)
        return std::nullopt;
    const int descriptor = memfd_create("trimtab-ipc", MFD_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    static constexpr std::array<std::byte, system_page_bytes> zeros{};
    bool is_copied = ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
    for (std::uint64_t at = 0; is_copied && at < bytes; at += system_page_bytes) {
        const auto* page = reinterpret_cast<const std::byte*>(first + at);
        if (std::memcmp(page, zeros.data(), system_page_bytes) == 0) continue;
        is_copied =
            pwrite(descriptor, page, system_page_bytes, static_cast<off_t>(at)) == ssize_t{system_page_bytes};
    }
    if (!is_copied || !map_file(reinterpret_cast<void*>(first), bytes, descriptor)) {
        close(descriptor);
        return std::nullopt;
    }
    shared_[first] = {.bytes = bytes, .descriptor = descriptor};
    return SharedPlace{.descriptor = descriptor, .file_bytes = bytes, .offset = allocation.first - first};
}

std::byte* Heap::import(const SharedPlace& place, std::uint64_t size_bytes, int device) {
    std::byte* start = reserve_range(place.file_bytes, system_page_bytes);
    if (start == nullptr) return nullptr;
    if (!map_file(start, place.file_bytes, place.descriptor)) {
        free_range(start, place.file_bytes);
        return nullptr;
    }
    const Allocation shown{.first = address_value(start) + place.offset,
                           .size_bytes = size_bytes,
                           .kind = MemoryKind::imported,
                           .device = device};
    show_mapped(address_value(start), place.file_bytes, {shown});
    return start + place.offset;
}

void Heap::close_import(const std::byte* pointer, const SharedPlace& place) {
    const std::uint64_t start = address_value(pointer) - place.offset;
    show_mapped(start, place.file_bytes, {});
    unmap_file(reinterpret_cast<void*>(start), place.file_bytes);
    free_range(reinterpret_cast<void*>(start), place.file_bytes);
}

bool Heap::map_file(void* place, std::uint64_t size_bytes, int descriptor) {
    void* mapped = mmap(place, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
    if (mapped == MAP_FAILED) return false;
    madvise(place, size_bytes, MADV_DONTDUMP);
    return true;
}

void Heap::unmap_file(void* place, std::uint64_t size_bytes) {
    void* empty = mmap(place, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (empty != MAP_FAILED) madvise(place, size_bytes, MADV_DONTDUMP);
}

void Heap::show_mapped(std::uint64_t first, std::uint64_t size_bytes,
                       const std::vector<Allocation>& accessible) {
    const std::lock_guard lock(mutex_);
    allocations_.erase(allocations_.lower_bound(first), allocations_.lower_bound(first + size_bytes));
    for (const Allocation& allocation : accessible) {
        Allocation& shown = allocations_[allocation.first] = allocation;
        shown.id = next_id_++;
    }
    map_.reset();
}

bool Heap::add_registered(void* pointer, std::uint64_t size_bytes, int device, unsigned flags) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t first = address_value(pointer);
    const auto next = allocations_.lower_bound(first);
    if (next != allocations_.end() && next->first < first + size_bytes) return false;
    const auto before = last_at_or_below(allocations_, first);
    if (before != allocations_.end() && before->second.holds(first)) return false;
    allocations_[first] = {.first = first,
                           .size_bytes = size_bytes,
                           .kind = MemoryKind::registered,
                           .device = device,
                           .flags = flags,
                           .id = next_id_++};
    map_.reset();
    return true;
}

std::optional<Allocation> Heap::remove_registered(const void* pointer) {
    const std::lock_guard lock(mutex_);
    const auto place = allocations_.find(address_value(pointer));
    if (place == allocations_.end() || place->second.kind != MemoryKind::registered) return std::nullopt;
    const Allocation allocation = place->second;
    allocations_.erase(place);
    map_.reset();
    return allocation;
}

std::optional<Allocation> Heap::find(const void* pointer) const {
    const std::lock_guard lock(mutex_);
    const auto place = last_at_or_below(allocations_, address_value(pointer));
    if (place == allocations_.end()) return std::nullopt;
    // An empty allocation holds no byte, but its pointer is known.
    const bool is_start = place->second.first == address_value(pointer);
    if (!is_start && !place->second.holds(address_value(pointer))) return std::nullopt;
    return place->second;
}

bool Heap::owns(const void* pointer) const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t start = address_value(arena_);
    return arena_ != nullptr && address_value(pointer) >= start &&
           address_value(pointer) < start + arena_bytes_;
}

std::shared_ptr<const MemoryMap> Heap::map() const {
    const std::lock_guard lock(mutex_);
    if (map_ == nullptr) {
        auto map = std::make_shared<MemoryMap>();
        map->allocations.reserve(allocations_.size());
        for (const auto& [address, allocation] : allocations_) map->allocations.push_back(allocation);
        map_ = std::move(map);
    }
    return map_;
}

std::string Heap::explain(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    for (auto freed = freed_.rbegin(); freed != freed_.rend(); ++freed) {
        if (freed->holds(address))
            return fmt::format("{} bytes into an allocation of {} bytes at {:#x} that was freed",
                               address - freed->first, freed->size_bytes, freed->first);
    }
    const auto before = last_at_or_below(allocations_, address);
    const auto after = allocations_.upper_bound(address);
    if (before != allocations_.end() && before->second.holds(address)) {
        const Allocation& allocation = before->second;
        if (allocation.kind == MemoryKind::array) return "inside a CUDA array, which has no addresses";
        return fmt::format("{} bytes before the end of an allocation of {} bytes at {:#x}",
                           allocation.end() - address, allocation.size_bytes, allocation.first);
    }
    const std::uint64_t past = before == allocations_.end() ? UINT64_MAX : address - before->second.end();
    const std::uint64_t ahead = after == allocations_.end() ? UINT64_MAX : after->first - address;
    // Far from everything: a host pointer or no pointer at all.
    constexpr std::uint64_t near_bytes = std::uint64_t{1} << 30;
    if (std::min(past, ahead) > near_bytes) {
        return address < system_page_bytes ? "a null pointer"
                                           : "not memory that the device can access (a host pointer?)";
    }
    if (past <= ahead)
        return fmt::format("{} bytes past the end of an allocation of {} bytes at {:#x}", past,
                           before->second.size_bytes, before->second.first);
    return fmt::format("{} bytes before an allocation of {} bytes at {:#x}", ahead, after->second.size_bytes,
                       after->first);
}

DriverLayout& Heap::layout_of(const Allocation& allocation) {
    return layouts_[{allocation.kind, allocation.device}];
}

Heap::Surroundings Heap::surroundings_of(std::uint64_t address) const {
    for (auto freed = freed_.rbegin(); freed != freed_.rend(); ++freed) {
        const std::uint64_t end = freed->first + freed->taken_bytes - before_next_bytes(*freed);
        if (address >= freed->first && address < end)
            return {.of = &*freed, .first = freed->first, .end = end};
    }
    const auto before = last_at_or_below(allocations_, address);
    const auto after = allocations_.upper_bound(address);
    Surroundings past, ahead;
    if (before != allocations_.end() && is_heaps_own(before->second.kind)) {
        const Allocation& allocation = before->second;
        past = {.of = &allocation,
                .first = allocation.end(),
                .end = allocation.first + allocation.taken_bytes - before_next_bytes(allocation)};
    }
    if (after != allocations_.end() && is_heaps_own(after->second.kind)) {
        const Allocation& allocation = after->second;
        ahead = {.of = &allocation,
                 .first = std::max(past.end, allocation.first - before_next_bytes(allocation)),
                 .end = allocation.first};
    }
    if (past.of != nullptr && address >= past.first && address < past.end) return past;
    if (ahead.of != nullptr && address >= ahead.first && address < ahead.end) return ahead;
    return {};
}

GlobalMemory::Range Heap::mapped_outside(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    // Of memory that the program registered, whole pages are mapped, and they are there.
    if (const auto before = last_at_or_below(allocations_, address);
        before != allocations_.end() && before->second.kind == MemoryKind::registered) {
        const Allocation& allocation = before->second;
        std::uint64_t end = base::align_up(allocation.end(), system_page_bytes);
        if (const auto next = allocations_.upper_bound(address); next != allocations_.end())
            end = std::min(end, next->first);
        if (address >= allocation.end() && address < end)
            return {.first = allocation.end(),
                    .end = end,
                    .host = reinterpret_cast<std::byte*>(allocation.end())};
    }
    const Surroundings around = surroundings_of(address);
    if (around.of == nullptr) return {};
    // Of the layout's place of `address`, which may lie before its beginning.
    const std::uint64_t shift = around.of->place - around.of->first;
    const auto piece = layout_of(*around.of).piece_at(address + shift);
    if (!piece) return {};
    const std::uint64_t first = std::max(around.first, piece->first - shift);
    const std::uint64_t end = std::min(around.end, piece->end - shift);
    std::byte* const host = piece->owner == 0 ? piece->host : reinterpret_cast<std::byte*>(piece->owner);
    return {.first = first, .end = end, .host = host + (first + shift - piece->first)};
}

}  // namespace trimtab::emulator
