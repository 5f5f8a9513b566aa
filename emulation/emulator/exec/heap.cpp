// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/heap.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trimtab::emulator {

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
    if (bytes == 0 || bytes > size_bytes) return 0;
    const std::lock_guard lock(mutex_);
    if (arena_ == nullptr) {
        arena_ = std::make_unique_for_overwrite<std::byte[]>(size_bytes + 16);
        first_ = (reinterpret_cast<std::uint64_t>(arena_.get()) + 15) / 16 * 16;
        free_[first_] = size_bytes;
    }
    const std::uint64_t wanted = (bytes + 15) / 16 * 16;
    const auto found =
        std::find_if(free_.begin(), free_.end(), [wanted](const auto& e) { return e.second >= wanted; });
    if (found == free_.end()) return 0;
    const auto [address, room] = *found;
    free_.erase(found);
    if (room > wanted) free_[address + wanted] = room - wanted;
    used_[address] = wanted;
    return address;
}

void DeviceHeap::release(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(address);
    if (found == used_.end()) return;
    auto at = free_.emplace(address, found->second).first;
    used_.erase(found);
    if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
        at->second += next->second;
        free_.erase(next);
    }
    if (at == free_.begin()) return;
    const auto before = std::prev(at);
    if (before->first + before->second != at->first) return;
    before->second += at->second;
    free_.erase(at);
}

bool DeviceHeap::is_allocated(std::uint64_t address, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto after = used_.upper_bound(address);
    if (after == used_.begin()) return false;
    const auto& [first, size] = *std::prev(after);
    return address - first < size && bytes <= size - (address - first);
}

std::pair<std::uint64_t, std::uint64_t> DeviceHeap::range() {
    const std::lock_guard lock(mutex_);
    return {first_, first_ == 0 ? 0 : first_ + size_bytes};
}

}  // namespace trimtab::emulator
