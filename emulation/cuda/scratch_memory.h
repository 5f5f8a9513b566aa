// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's memory as a run may see it that leaves nothing behind: pages become copies when they are first touched.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

class ScratchMemory : public GlobalMemory {
  public:
    // `most_bytes`: of copies; what is touched beyond them is no valid memory.
    ScratchMemory(GlobalMemory& memory, std::uint64_t most_bytes)
        : memory_(memory), left_bytes_(most_bytes) {}

    [[nodiscard]] Range range_of(std::uint64_t address, Access access) override;
    [[nodiscard]] std::string explain(std::uint64_t address) const override {
        return memory_.explain(address);
    }
    [[nodiscard]] const Texture* texture(std::uint64_t handle) const override {
        return memory_.texture(handle);
    }
    // Writes through surfaces would stay.
    [[nodiscard]] const Surface* surface(std::uint64_t) const override { return nullptr; }

  private:
    struct Copy {
        Range range;
        std::unique_ptr<std::byte[]> bytes;
    };
    static constexpr std::uint64_t page_bytes = 64 * 1024;
    GlobalMemory& memory_;
    std::mutex mutex_;
    std::uint64_t left_bytes_;
    // By the address of the page, or of the allocation that begins in it.
    std::unordered_map<std::uint64_t, Copy> copies_;
};

}  // namespace trimtab::cuda
