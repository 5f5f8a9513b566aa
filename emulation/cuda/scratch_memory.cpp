// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/scratch_memory.h"

#include <algorithm>
#include <cstring>

namespace trimtab::cuda {

GlobalMemory::Range ScratchMemory::range_of(std::uint64_t address, Access access) {
    const Range whole = memory_.range_of(address, access);
    if (whole.host == nullptr) return whole;
    const std::uint64_t first = std::max(whole.first, address / page_bytes * page_bytes);
    const std::uint64_t end = std::min(whole.end, address / page_bytes * page_bytes + page_bytes);
    const std::lock_guard lock(mutex_);
    if (const auto found = copies_.find(first); found != copies_.end()) return found->second.range;
    if (end - first > left_bytes_) return {};
    left_bytes_ -= end - first;
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(end - first);
    std::memcpy(bytes.get(), whole.host + (first - whole.first), end - first);
    const Range range{.first = first, .end = end, .host = bytes.get()};
    copies_.emplace(first, Copy{.range = range, .bytes = std::move(bytes)});
    return range;
}

}  // namespace trimtab::cuda
