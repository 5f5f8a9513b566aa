// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch leaves open, byte by byte and more strictly than the emulator's checks: a byte that one
// thread stores and another one touches, whatever the values are; atomics of several kinds on one byte; and
// stores to what is loaded as read-only (ld.global.nc).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "emulator/exec/observer.h"

namespace trimtab::analysis::test {

// The text with each read-only load as a volatile one, of which the kernel must have no other.
[[nodiscard]] std::string with_marked_read_only_loads(std::string ptx);

// Watches a launch of that text. Barriers order nothing here: for kernels without them.
class AccessLog : public emulator::LaunchObserver {
  public:
    // Empty: nothing is left open. `threads_talk`: by barriers or within warps, so that what the threads of
    // one block do is for others to judge.
    [[nodiscard]] std::string what_is_open(bool threads_talk) const;

    [[nodiscard]] emulator::LaneAddresses::Shape accesses(emulator::Warp& w, const emulator::Op* op,
                                                          emulator::LaneAddresses::Shape shape) override;

  private:
    struct Byte {
        static constexpr std::uint64_t none = ~std::uint64_t{0}, several = none - 1;
        std::uint64_t stored_by = none, touched_by = none;
        std::uint64_t atomic = none;  // the operation and its type
        std::uint64_t block = none;   // that touches it
        bool is_read_only = false, is_written = false;
    };
    static void add(std::uint64_t& set, std::uint64_t one) {
        set = set == Byte::none || set == one ? one : Byte::several;
    }

    std::unordered_map<std::uint64_t, Byte> bytes_;  // by host address
};

}  // namespace trimtab::analysis::test
