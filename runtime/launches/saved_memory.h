// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch may change, kept so that the launch can be made again from the same contents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "runtime/modules/program_variable.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// Holds the allocations that the words of a parameter buffer point into, whole, and the program's variables. Memory
// that a kernel finds only through pointers that lie in memory is not among them.
class SavedMemory {
  public:
    // Waits for the device. The error, in one line: something cannot be kept.
    [[nodiscard]] static std::expected<SavedMemory, std::string> save(
        const BackendCalls& calls, std::span<const std::byte> arguments,
        std::span<const ProgramVariable> variables);
    SavedMemory(SavedMemory&& other) noexcept = default;
    SavedMemory& operator=(SavedMemory&&) = delete;
    ~SavedMemory();

    // Contents as they were saved. In the order of the legacy default stream.
    [[nodiscard]] bool restore() const;
    // Of the contents as they are now; two hashes differ where a byte does. Waits for the device.
    [[nodiscard]] std::expected<std::uint64_t, std::string> hash() const;
    [[nodiscard]] std::uint64_t size_bytes() const;

  private:
    struct Range {
        std::uint64_t first = 0, size_bytes = 0;
        void* on_device = nullptr;  // its copy; null: it is in on_host
        std::vector<std::byte> on_host = {};
    };
    explicit SavedMemory(const BackendCalls& calls) : calls_(&calls) {}
    [[nodiscard]] bool add(std::uint64_t first, std::uint64_t size_bytes);

    const BackendCalls* calls_;
    std::vector<Range> ranges_;
};

}  // namespace trimtab::runtime
