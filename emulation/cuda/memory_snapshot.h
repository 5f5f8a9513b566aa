// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What memory held at one moment: to run a launch again from there, and to hold what it left against another
// run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trimtab::cuda {

// A stretch of host memory that kernels may write.
struct MemoryRegion {
    std::uint64_t first = 0, size_bytes = 0;
    std::string name;  // "an allocation", "the module's variables"
    unsigned real_bytes =
        0;  // of the floating-point numbers that it is known to hold; 0: of what is not known
};

class MemorySnapshot {
  public:
    // Copies what the regions hold now. Pages of zeros take no room.
    explicit MemorySnapshot(std::vector<MemoryRegion> regions);

    // Makes the regions hold it again. Pages that have not changed are not written.
    void restore() const;

    // Calls `visit` for every aligned word of 8 bytes that is not now as it was (the last one of a region may
    // be shorter), until it returns false.
    struct ChangedWord {
        const MemoryRegion* region = nullptr;
        std::uint64_t address = 0;
        std::size_t size_bytes = 0;
        std::uint64_t then = 0, now = 0;  // its bytes, little-endian
    };
    void compare(const std::function<bool(const ChangedWord&)>& visit) const;

  private:
    using Page = std::unique_ptr<std::byte[]>;  // null: zeros
    struct Piece {
        MemoryRegion region;
        std::vector<Page> pages;
    };
    std::vector<Piece> pieces_;
};

}  // namespace trimtab::cuda
