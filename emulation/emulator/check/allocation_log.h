// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who allocated and freed the memory that kernels access, and which bytes of it have been written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "emulation/emulator/check/report.h"

namespace trimtab::emulator::check {

struct RawStack {
    std::vector<void*> frames;  // return addresses, innermost first
};
// The calling host thread's stack, without the emulator's own frames.
[[nodiscard]] RawStack capture_stack();
[[nodiscard]] HostStack symbols_of(const RawStack& stack);

// Addresses are the host's, which are the device's too. Not thread-safe.
class AllocationLog {
  public:
    struct Allocation {
        std::uint64_t first = 0, size_bytes = 0;
        RawStack allocated, freed;
        std::vector<std::uint64_t> written;  // a bit a byte; empty: all count as written
    };

    // `is_tracked`: what is not written by kernels, copies or fills is undefined (cudaMalloc's memory; the
    // host writes to other kinds by itself).
    void allocate(std::uint64_t first, std::uint64_t size_bytes, bool is_tracked, RawStack stack);
    void release(std::uint64_t first, RawStack stack);

    // The allocation that holds the address, or that was freed and did.
    [[nodiscard]] const Allocation* live(std::uint64_t address) const;
    [[nodiscard]] const Allocation* freed(std::uint64_t address) const;
    // The live one that ends or begins nearest.
    [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;

    void write(std::uint64_t first, std::uint64_t bytes);
    // The first byte of the stretch that nothing has written.
    [[nodiscard]] std::optional<std::uint64_t> first_unwritten(std::uint64_t first,
                                                               std::uint64_t bytes) const;
    // What is undefined in the source is undefined in the copy.
    void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  private:
    [[nodiscard]] Allocation* find(std::uint64_t address) const;

    mutable std::map<std::uint64_t, Allocation> live_;
    mutable Allocation* last_ = nullptr;  // found
    std::deque<Allocation> freed_;        // the latest first
};

}  // namespace trimtab::emulator::check
