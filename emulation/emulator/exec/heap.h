// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The heap of malloc() and free() in kernels. Memory goes back to the host only with the program, so that no
// range that a worker remembers can become invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace trimtab::emulator {

class DeviceHeap {
  public:
    static constexpr std::size_t size_bytes = std::size_t{256} << 20;

    [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);  // 0: no room
    void release(std::uint64_t address);                        // what is no allocation is ignored
    // Does one allocation hold all these bytes?
    [[nodiscard]] bool is_allocated(std::uint64_t address, std::uint64_t bytes);
    // [first, end) of host addresses, empty before the first allocation.
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> range();

  private:
    std::mutex mutex_;
    std::unique_ptr<std::byte[]> arena_;
    std::uint64_t first_ = 0;
    std::map<std::uint64_t, std::uint64_t> free_, used_;  // address -> bytes
};

}  // namespace trimtab::emulator
