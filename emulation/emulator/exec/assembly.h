// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lanes of a warp act together in an instruction with a mask of members: shfl, vote, match, redux,
// elect, bar.warp.sync.
//
// With .sync they wait for the members that are on other paths (PTX ISA): a path that comes first is put
// aside until the others stand at the same instruction; then all act at once. Members that never come (they
// wait themselves) are done without. Groups with masks of their own, as tiles of a warp have them, act each
// for itself. A mask without its own lane, or with another lane that gives another mask, is undefined: its
// lanes wait for nobody and act with those that are there, as GPUs have it.
#pragma once

#include <array>
#include <cstdint>

#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator {

struct Assembly {
    std::uint32_t lanes = 0;   // that act now; 0: the path was put aside
    const Op* next = nullptr;  // where the warp goes on
    bool is_one_group = true;
    std::array<std::uint32_t, warp_lanes> groups{};  // by lane: with whom it acts; unless it is one group

    [[nodiscard]] std::uint32_t group_of(unsigned lane) const { return is_one_group ? lanes : groups[lane]; }
};

// The current path has come to `op`. Those that act are the warp's mask until the caller sets it back.
[[nodiscard]] Assembly assemble(Warp& w, const Op* op, OperandRef members);

// Whether the lane is in its mask, and all of `lanes` that are in it, or have the lane in theirs, give the
// same.
[[nodiscard]] bool agrees(const std::uint32_t* masks, std::uint32_t lanes, unsigned lane);

}  // namespace trimtab::emulator
