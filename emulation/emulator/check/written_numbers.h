// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What numbers a launch writes, and where: which words hold sums of floating-point atomics, which hold results of
// floating-point instructions, and of what type. What may differ by rounding where sums are taken in another order is
// among these; what is stored as an integer never is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/ptx/number_kinds.h"
#include "emulation/emulator/exec/observer.h"

namespace trimtab::emulator {
class CompiledKernel;
}  // namespace trimtab::emulator

namespace trimtab::emulator::check {

// What floating-point atomics added up at one place.
struct AtomicSum {
    ptx::NumberKind kind = ptx::NumberKind::other;
    std::uint64_t count = 0;  // of terms
    double magnitude = 0;     // of what was there and of all terms: the sum of their absolute values
    // Every term, and what was there, is a multiple of 2 to this: sums of less than 2 to the type's precision
    // times that are exact.
    int finest_exponent = 0;
};

// Watches one launch. Of a place it knows what was written there last.
class WrittenNumbers : public LaunchObserver {
  public:
    WrittenNumbers();
    ~WrittenNumbers() override;

    // What was written to the two bytes at the host's address: `moved` where nothing was.
    [[nodiscard]] ptx::NumberKind kind_at(std::uint64_t address) const;
    // What floating-point atomics left there; null: something else did.
    [[nodiscard]] const AtomicSum* sum_at(std::uint64_t address) const;
    // The kernel reads what its own floating-point atomics add up, so that other numbers may be made of it.
    [[nodiscard]] bool are_sums_read() const { return are_sums_read_; }

    void block_started(const Block& block) override;
    void block_finished(const Block& block) override;
    [[nodiscard]] LaneAddresses::Shape accesses(Warp& w, const Op* op, LaneAddresses::Shape shape) override;

  private:
    struct Unit {
        ptx::NumberKind kind = ptx::NumberKind::moved;
        bool is_sum = false;
    };
    static constexpr std::uint64_t unit_bytes = 2, word_bytes = 8;
    using Memory = std::unordered_map<std::uint64_t, std::array<Unit, word_bytes / unit_bytes>>;  // by word

    struct Kernel;
    // A memory instruction of a kernel.
    struct Site {
        bool is_known = false;
        bool reads = false, writes = false;
        bool is_copy = false;         // writes what it reads
        std::uint8_t part_bytes = 0;  // of an element, or of a number of a packed one that is added
        ptx::NumberKind adds =
            ptx::NumberKind::moved;  // an atomic sum's; moved: it adds no floating-point number
        std::vector<ptx::NumberKinds::Origin> written;  // by element
    };

    [[nodiscard]] Kernel& kernel_of(const CompiledKernel& compiled);
    [[nodiscard]] static Site site_of(const Kernel& kernel, const Op* op);
    [[nodiscard]] ptx::NumberKind read(const Memory& memory, std::uint64_t first, std::uint64_t bytes);
    static void write(Memory& memory, std::uint64_t first, std::uint64_t bytes, const Unit& unit);
    void add(Warp& w, const Op* op, const Site& site, unsigned lane, Memory& memory, std::uint64_t first);

    std::map<const CompiledKernel*, std::unique_ptr<Kernel>> kernels_;
    Memory global_;
    std::map<std::uint64_t, Memory> of_blocks_;  // shared, and what is the threads' own; by block
    std::unordered_map<std::uint64_t, AtomicSum> sums_;
    bool are_sums_read_ = false;
};

}  // namespace trimtab::emulator::check
