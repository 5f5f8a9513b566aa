// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch leaves open, byte by byte and more strictly than the emulator's checks: a byte that one
// thread stores and another one touches with no barrier between, whatever the values are and wherever the two
// threads are, in one warp, too; atomics of several kinds on one byte; and stores to what is loaded as read-only
// (ld.global.nc).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "emulation/emulator/exec/observer.h"

namespace trimtab::analysis::test {

// The text with each read-only load as a volatile one, of which the kernel must have no other.
[[nodiscard]] std::string with_marked_read_only_loads(std::string ptx);

// Watches a launch of that text.
class AccessLog : public emulator::LaunchObserver {
  public:
    // Empty: nothing is left open.
    [[nodiscard]] const std::string& what_is_open() const { return open_; }

    void block_started(const emulator::Block& block) override;
    [[nodiscard]] emulator::LaneAddresses::Shape accesses(emulator::Warp& w, const emulator::Op* op,
                                                          emulator::LaneAddresses::Shape shape) override;
    void barrier_completes(const emulator::Block& block, unsigned number,
                           std::span<const std::uint32_t> arrived) override;
    void warp_synchronizes(emulator::Warp& w, const emulator::Op* op, emulator::OperandRef members,
                           std::uint32_t lanes) override;

  private:
    static constexpr std::uint64_t none = ~std::uint64_t{0}, several = none - 1;
    struct Access {
        std::uint64_t block = 0, phase = 0, warp = 0, moment = 0, thread = 0;
        std::uint64_t atomic = none;  // the operation and its type
        bool writes = false, is_of_constants = false;
    };
    // What was done to a byte by several of a kind: blocks in the launch, warps since a barrier, lanes since they met.
    struct Done {
        std::uint64_t by = none;
        bool is_touched = false, is_stored = false, is_added_to = false;

        void add(const Access& access, std::uint64_t one);
        [[nodiscard]] bool is_open() const {
            return by == several && (is_stored || (is_touched && is_added_to));
        }
    };
    struct Byte {
        std::uint64_t atomic = none;
        bool is_written = false, is_of_constants = false;
        Done by_blocks, by_warps, by_lanes;
        std::uint64_t phase = none, warp = none, moment = none;
    };
    static void add(std::uint64_t& set, std::uint64_t one) {
        set = set == none || set == one ? one : several;
    }
    [[nodiscard]] static const char* open_after(Byte& byte, const Access& access);

    std::unordered_map<std::uint64_t, Byte> bytes_, shared_;    // by host address; those of the running block
    std::unordered_map<std::uint64_t, std::uint64_t> moments_;  // by warp of the running block
    std::uint64_t phase_ = 0;
    std::string open_;
};

}  // namespace trimtab::analysis::test
