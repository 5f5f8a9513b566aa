// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one access of a warp touches, by the addresses of its lanes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// What stores take of L2, in slots: a whole segment of 64 bytes takes one.
struct StoreRules {
    double whole_sector = 0.5, partial_sector = 1, fragment = 0;  // Architecture's
};

// The lanes that make the access, the first `count` entries.
struct LaneAccess {
    static constexpr unsigned most = 32;
    std::array<std::uint64_t, most> address{};
    std::array<std::uint8_t, most> lane{};
    unsigned count = 0;

    void add(unsigned number, std::uint64_t at) {
        lane[count] = static_cast<std::uint8_t>(number);
        address[count++] = at;
    }
    [[nodiscard]] bool operator==(const LaneAccess& other) const {
        return count == other.count &&
               std::equal(address.begin(), address.begin() + count, other.address.begin()) &&
               std::equal(lane.begin(), lane.begin() + count, other.lane.begin());
    }
};

// Appends the lines that a request touches, with their sectors, in no order.
void touch_lines(const LaneAccess& lanes, unsigned bytes, std::vector<Line>& lines, Request& request);

// The same of local memory, where the lanes' words of one offset lie side by side, in a line of their own from `first_line`
// on. Addresses are offsets in a thread's memory. What a store of it takes of L2: a slot for each segment of 64 bytes.
unsigned touch_own_lines(const LaneAccess& offsets, unsigned bytes, std::uint64_t first_line,
                         std::vector<Line>& lines, Request& request);

// What a store takes of L2.
[[nodiscard]] double store_slots(const LaneAccess& lanes, unsigned bytes, const StoreRules& rules);

// Passes of a request to shared memory: for so many lanes as 128 bytes are, the most distinct words in one
// bank; words that several lanes read are read once. Atomics on one word follow each other.
[[nodiscard]] unsigned shared_passes(const LaneAccess& lanes, unsigned bytes, bool is_atomic);
// If no two lanes met in a bank.
[[nodiscard]] unsigned passes_without_conflicts(const LaneAccess& lanes, unsigned bytes);

// The same elements, if those that the lanes ask for at once were neighbours. Lanes that walk rows together come to
// every element of their lines in turn, whichever way it is laid out: the n-th element of a line stands for the n-th
// of the lines, whole.
void lay_side_by_side(LaneAccess& lanes, unsigned bytes);

// The most lanes that meet at one address.
[[nodiscard]] unsigned most_at_once(LaneAccess lanes);

}  // namespace trimtab::schedule
