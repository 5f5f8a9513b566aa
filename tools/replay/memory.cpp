// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/replay/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace trimtab::tools {
namespace {

constexpr std::uint64_t page_bytes = 4096;

// Allocations may share a page.
bool map_pages(std::uint64_t first, std::uint64_t end) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address that the launch knows
    auto* const wanted = reinterpret_cast<void*>(first);
    void* const place = mmap(wanted, end - first, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == MAP_FAILED) return false;
    if (place == wanted) return true;
    munmap(place, end - first);  // a kernel that does not know the flag
    errno = EEXIST;
    return false;
}

}  // namespace

std::span<std::byte> bytes_at(std::uint64_t address, std::size_t size_bytes) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): likewise
    return {reinterpret_cast<std::byte*>(address), size_bytes};
}

std::expected<void, Error> map_allocations(const std::vector<emulator::capture::Region>& allocations) {
    std::uint64_t mapped_end = 0;
    for (const auto& region : allocations) {
        if (region.bytes.empty()) continue;
        const std::uint64_t first = std::max(region.address / page_bytes * page_bytes, mapped_end);
        const std::uint64_t last = region.address + region.bytes.size() - 1;
        const std::uint64_t end = (last / page_bytes + 1) * page_bytes;
        if (end == 0 || (end > first && !map_pages(first, end)))
            return std::unexpected(
                Error{.message = fmt::format("its memory cannot be mapped at {:#x}, where it was: {}",
                                             region.address, std::strerror(errno))});
        mapped_end = std::max(mapped_end, end);
        std::ranges::copy(region.bytes, bytes_at(region.address, region.bytes.size()).begin());
    }
    return {};
}

}  // namespace trimtab::tools
