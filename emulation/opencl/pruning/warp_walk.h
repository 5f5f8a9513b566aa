// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One warp's way through a kernel, without a run: the trace that algorithms 1 to 3 make.
//
// Blocks come in the order in which the search of algorithm 3 lists them, loops iteration by iteration, and a block
// is in the trace where a lane of the warp gets to it (the mask array M). Conditions that arguments, ids and
// induction variables decide are decided (section 4.2.1); where memory decides, both ways are taken. A loop ends
// when no lane goes on; one that memory alone ends has WalkSettings::unknown_trips iterations. What the warp does is written
// down as abstract emulation wants it, just as if it had been run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulation/opencl/pruning/kernel_code.h"
#include "emulation/opencl/pruning/warp_values.h"
#include "emulation/schedule/trace_writer.h"

namespace trimtab::pruning {

struct WalkSettings {
    std::uint32_t unknown_trips = 1;
    // Iterations of a loop that are walked, at least: the iterations behind are like the second half of them as long as
    // nothing but time tells them apart.
    std::uint32_t kept_iterations = schedule::kept_iterations;
};

// What the walk took for want of knowledge, over all warps.
struct WalkNotes {
    std::vector<bool> undecided_branches;  // by block
    std::vector<bool> undecided_loops;     // by loop
    std::vector<bool> unknown_addresses;   // by access
    bool is_cut = false;                   // a loop went on for too long
};

struct WalkPlace {
    std::array<std::uint32_t, 3> group{1, 1, 1}, groups{1, 1, 1};  // size, and how many
    std::array<std::uint32_t, 3> index{0, 0, 0};                   // of this group
    std::uint32_t warp = 0;                                        // in the group

    [[nodiscard]] std::uint64_t linear() const {
        return index[0] + std::uint64_t{groups[0]} * (index[1] + std::uint64_t{groups[1]} * index[2]);
    }
};

class WarpWalk {
  public:
    WarpWalk(const KernelCode& code, std::span<const std::byte> arguments, const WalkSettings& walk);

    // Warp instructions, all iterations. `writer` may be nullptr: then they are counted, no more.
    std::uint64_t walk(const WalkPlace& place, const WarpLanes& lanes, schedule::TraceWriter* writer,
                       schedule::TraceWriter::Place at);

    WalkSettings settings;
    std::vector<ptx::BlockIndex>* blocks = nullptr;  // is filled with those that the warp passes
    [[nodiscard]] const WalkNotes& notes() const { return notes_; }
    // An access beyond the local memory that the kernel declares (KernelCode::local_end), since it was last asked; no_index:
    // none. Such a size contradicts the code.
    [[nodiscard]] std::uint32_t take_beyond_local() { return std::exchange(beyond_local_, ptx::no_index); }

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
    void run_region(const Step& step, std::uint32_t mask);
    void run_access(const Step& step, std::uint32_t mask);
    void write_access(const MemoryAccess& access, const WarpOperand& address, std::uint32_t mask);
    [[nodiscard]] std::uint64_t unknown_place(std::uint64_t bytes);
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
    std::vector<std::uint32_t> slot_instructions_;
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
    schedule::TraceWriter* writer_ = nullptr;
    schedule::TraceWriter::Place at_;
    std::uint64_t iterations_ = 0;  // of all loops, that were walked
    std::uint64_t instructions_ = 0;
    std::uint64_t unknown_bytes_ = 0;  // of this group, in places that memory decides
    std::uint32_t beyond_local_ = ptx::no_index;
};

}  // namespace trimtab::pruning
