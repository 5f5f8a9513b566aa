// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a proof may take for granted of a kernel's launches, beyond what CUDA says of every launch. Each is
// tried in its turn; the launch is then held to it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace trimtab::analysis {

// Of one dimension.
enum class Assumed : std::uint8_t {
    nothing,
    // Grid and block are 1: every index is 0 and every size 1. A kernel that flattens its index over all
    // dimensions is mostly launched in one or two.
    one_thread,
    // The grid stays as written. What a block does is followed as what a grid does elsewhere, with threadIdx
    // for the global index and blockDim for the total (block-stride loops); blockIdx and gridDim are what
    // they were, whatever the block is.
    grid_stays,
    // Blocks are of whole warps, as written and after: multiples of 32 threads. threadIdx is 32 times the
    // warp's number in its block plus the lane, and blockDim 32 times the number of warps. What is made of
    // the warp's number among all warps and of the lane is the same in any block, and so is what the threads
    // of one warp tell each other.
    whole_warps
};

struct LaunchAssumption {
    std::string_view name;
    std::array<Assumed, 3> of{};
    // What the threads of one block tell each other, by shared memory and by shuffles, is looked at as a
    // whole. All of its threads are those of the dimension whose grid stays.
    bool blocks_are_units = false;
    // Sums of floating-point numbers may be grouped otherwise: the user allows it.
    bool may_reassociate = false;

    [[nodiscard]] bool any(Assumed what) const { return of[0] == what || of[1] == what || of[2] == what; }
};

// In the order in which they are tried; the first takes nothing for granted.
[[nodiscard]] std::span<const LaunchAssumption> launch_assumptions();

}  // namespace trimtab::analysis
