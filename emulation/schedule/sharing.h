// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the SMs' blocks have in common: one SM is emulated, L2 and DRAM serve all.
//
// A block's address of an access, as a rule, is a sum of multiples of its indices. The multiples are measured
// on a block and its neighbours; with them the sectors of one block are moved to where the other blocks of a
// wave touch theirs, and those that coincide are counted once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emulation/schedule/trace.h"
#include "trimtab/driver.h"

namespace trimtab::schedule {

struct Neighbours {
    std::uint64_t block = 0;  // linear index; its trace is given
    // By access: bytes from the block's address to that of the next block in x, y and z.
    std::vector<std::array<std::int64_t, 3>> strides;
    std::vector<std::uint64_t> addresses;  // by access, of the block itself; 0: it makes none
};

struct Grid {
    trimtab_dim3 size{1, 1, 1};
    std::uint64_t wave_blocks = 1;  // resident on the device at once
    double l2_bytes = 0;
    std::uint32_t resident = 1;  // blocks on an SM at once
};

struct Sharing {
    std::vector<Access> accesses;
    double l2_share =
        1;  // of L2, the share that one SM's data may fill, times the SMs: data in common count once
};

// Of local memory, of which so many bytes are in use at once: no sector comes from DRAM but for those that L2 had no room
// for, since a thread writes before it reads.
[[nodiscard]] Access local_access(double bytes, double l2_bytes);

[[nodiscard]] Sharing sharing(const BlockTrace& trace, const Code& code, const Neighbours& neighbours,
                              const Grid& grid);

}  // namespace trimtab::schedule
