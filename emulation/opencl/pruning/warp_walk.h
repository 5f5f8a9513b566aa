// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One warp's way through a kernel, without a run: the trace that algorithms 1 to 3 make.
//
// Blocks come in the order in which the search of algorithm 3 lists them, loops iteration by iteration, and a block
// is in the trace where a lane of the warp gets to it (the mask array M). Conditions that arguments, ids and
// induction variables decide are decided (section 4.2.1); where memory decides, both ways are taken. A loop ends
// when no lane goes on; one that memory alone ends has WalkSettings::unknown_trips iterations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulation/opencl/pruning/coalescing.h"
#include "emulation/opencl/pruning/kernel_code.h"
#include "emulation/opencl/pruning/trace.h"
#include "emulation/opencl/pruning/warp_values.h"

namespace trimtab::pruning {

struct WalkSettings {
    std::uint32_t unknown_trips = 1;
    // Iterations of a loop that are kept, at least; the iterations behind are like the second half of them as long
    // as nothing but time tells them apart. Inner: a walk over 4-byte elements meets each sector twice.
    std::uint32_t kept_inner_iterations = 16, kept_outer_iterations = 4;
};

// What the walk took for want of knowledge, over all warps.
struct WalkNotes {
    std::vector<bool> undecided_branches;  // by block
    std::vector<bool> undecided_loops;     // by loop
    std::vector<bool> unknown_addresses;   // by access
    bool is_cut = false;                   // a loop went on for too long
};

struct WalkedAccess {
    std::uint32_t operation = 0;                   // in WalkedWarp::operations
    std::uint32_t first_line = 0, line_count = 0;  // in WalkedWarp::lines
    std::uint32_t uncached_sectors = 0;            // of places that are not known: they miss
    std::uint32_t passes = 0;                      // of local memory
    Space space = Space::global;
};

// Where an access goes.
struct AccessAddress {
    WarpValue value;
    std::uint32_t bytes = 0;
    bool is_of_all = false;  // a sum, and every item of the warp makes the access
};

// A trace whose accesses have not met the cache yet.
struct WalkedWarp {
    std::vector<Operation> operations;
    std::vector<WalkedAccess> accesses;
    std::vector<AccessAddress> addresses;  // of each access, where WarpWalk::lists_addresses
    std::vector<TouchedLine> lines;
    std::vector<ptx::BlockIndex> blocks;  // filled where WarpWalk::lists_blocks
};

struct WalkPlace {
    std::array<std::uint32_t, 3> group{1, 1, 1}, groups{1, 1, 1};  // size, and how many
    std::array<std::uint32_t, 3> index{0, 0, 0};                   // of this group
    std::uint32_t warp = 0;                                        // in the group
};

class WarpWalk {
  public:
    WarpWalk(const KernelCode& code, std::span<const std::byte> arguments, const WalkSettings& settings);

    void walk(const WalkPlace& place, const WarpLanes& lanes, WalkedWarp& out);

    bool lists_blocks = false, lists_addresses = false;
    [[nodiscard]] const WalkNotes& notes() const { return notes_; }

  private:
    // The iterations of a loop that a skip leaves out, and by how much its phis move in each.
    struct Skip {
        std::uint64_t iterations = 0;
        std::vector<WarpValue> steps;  // by phi of the header
    };
    struct Iteration {  // what an iteration began with, and what its branches compared
        std::vector<WarpValue> phis, differences;
    };

    [[nodiscard]] WarpOperand operand(const ValueOperand& operand) const;
    [[nodiscard]] std::uint32_t lanes_of(ptx::ValueIndex condition, bool negated, std::uint32_t mask,
                                         bool& is_known) const;
    [[nodiscard]] ptx::Type type_of(ptx::ValueIndex value) const;
    [[nodiscard]] std::uint32_t incoming(ptx::BlockIndex block) const;
    void run_items(const std::vector<CodeItem>& items);
    void run_block(ptx::BlockIndex block);
    void run_loop(std::uint32_t loop);
    void join_phis(ptx::BlockIndex block);
    void run_step(const Step& step, std::uint32_t mask);
    void run_access(const Step& step, std::uint32_t mask);
    [[nodiscard]] WarpValue special(ptx::SpecialRegister special, LaneNumbers& lanes_out) const;
    [[nodiscard]] WarpValue argument(const Step& step) const;
    void end_block(ptx::BlockIndex block, std::uint32_t mask);
    void pass(ptx::BlockIndex from, std::size_t successor, std::uint32_t mask);
    void note_exit(ptx::BlockIndex block, std::size_t successor, bool is_known);
    [[nodiscard]] Iteration iteration_of(std::uint32_t loop);
    [[nodiscard]] Skip possible_skip(std::uint32_t loop, std::span<const Iteration> last, std::uint32_t mask);
    [[nodiscard]] const Step* comparison_of(ptx::BlockIndex block) const;

    const KernelCode& code_;
    std::span<const std::byte> arguments_;
    WalkSettings settings_;
    WalkNotes notes_;

    std::vector<WarpValue> values_;
    std::vector<LaneNumbers> lane_numbers_;  // by value
    std::vector<std::uint32_t> first_edge_;  // by block: of its predecessors' edges in edges_
    std::vector<std::uint32_t> edges_;       // lanes that came by each
    struct ExitEdge {
        std::uint32_t edge = 0, leaves = 0;
    };
    std::vector<std::vector<ExitEdge>> exits_;            // by loop
    std::vector<std::vector<ptx::BlockIndex>> branches_;  // by loop: that end in branches, of no inner loop
    std::vector<std::vector<std::uint32_t>> entry_edges_, back_edges_;  // by loop: into its header
    std::vector<std::uint32_t> header_of_;                              // by block: the loop, or no_index
    std::vector<std::uint32_t>
        comparisons_;  // by block: place in its steps of what its branch compares, or no_index
    std::vector<bool> known_exit_, unknown_exit_;  // by loop
    std::vector<Skip> skips_;                      // by loop
    std::array<LaneNumbers, 3> operand_numbers_{};
    std::vector<std::pair<WarpValue, LaneNumbers>> joined_;
    WarpLanes lanes_;
    WalkPlace place_;
    WalkedWarp* out_ = nullptr;
    std::uint64_t iterations_ = 0;  // of all loops
};

}  // namespace trimtab::pruning
