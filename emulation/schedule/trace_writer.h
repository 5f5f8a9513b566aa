// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes down what the warps of some blocks do, as whoever follows them says it: an emulator that runs them, or a walk that
// runs nothing.
//
// Of each loop the first iterations are kept (`kept_iterations`), the others counted: a loop's steady state shows in tens of
// iterations.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulation/schedule/code_builder.h"
#include "emulation/schedule/lane_access.h"
#include "emulation/schedule/trace.h"

namespace trimtab::schedule {

// Steps that one launch may leave behind, some hundred megabytes.
inline constexpr std::size_t most_steps = 2'000'000;

// The first of the lines that stand for a warp's local memory, one for each word of a thread.
[[nodiscard]] constexpr std::uint64_t own_memory(std::uint64_t traced_block, std::uint64_t warp) {
    return (std::uint64_t{1} << 56) + ((traced_block * 64 + warp) << 20);
}

struct RecordedBlocks {
    std::vector<BlockTrace> blocks;
    // By block, then by access: the least address of its first request; 0: it made none.
    std::vector<std::vector<std::uint64_t>> first_addresses;
    // By block and warp: how often it entered each region, by its slot in the kernel's numbering: all iterations.
    std::vector<std::vector<std::vector<std::uint32_t>>> entered;
    std::vector<bool> cut_short;  // by loop: some warp had more iterations at a time than are kept
    std::vector<std::uint16_t>
        kept;  // by loop: its first so many iterations are there, of every warp that had them
    std::uint64_t warp_instructions = 0;  // of all blocks and iterations
    bool is_cut = false;                  // steps were lost: the launch is more than can be kept
};

class TraceWriter {
  public:
    TraceWriter(const BuiltCode& code, const StoreRules& stores);

    struct Place {
        std::size_t block = 0, warp = 0;  // in the order of begin_block()
    };
    std::size_t begin_block(std::uint64_t linear_index, std::size_t warps);
    // A warp comes to the region of that slot, in a frame of that depth. False: neither this iteration of its loops is kept,
    // nor those that follow.
    bool enter(Place place, std::uint32_t slot, std::uint32_t depth = 0);
    // Iterations of the loop that it is in, innermost, which are left out: they enter the regions of `slots`.
    void leave_out(Place place, std::uint64_t iterations, std::initializer_list<std::uint32_t> slots);

    // What a warp had done at some moment.
    struct Mark {
        std::vector<std::uint32_t> entered;
        std::vector<std::uint64_t> iterations;
    };
    [[nodiscard]] Mark mark(Place place) const;
    // Iterations of `loop` are left out, in which it does what it did since `since` in `seen` of them.
    void leave_out_alike(Place place, std::uint32_t loop, const Mark& since, std::uint64_t seen,
                         std::uint64_t iterations);

    // Likewise of the loop that it is in, innermost, where it has done one such iteration since then.
    void leave_out_like(Place place, const Mark& since, std::uint64_t iterations);

    // Whether the access of that instruction is kept, and not written down already.
    [[nodiscard]] bool wants(Place place, std::uint32_t instruction) const;
    // Where it is, what it touches: `bytes` of each lane.
    void access(Place place, std::uint32_t instruction, LaneAccess lanes, unsigned bytes, bool is_atomic);
    // The same of local memory; addresses are offsets in a thread's.
    void access_own(Place place, std::uint32_t instruction, const LaneAccess& offsets, unsigned bytes,
                    bool reads);

    [[nodiscard]] bool is_cut() const { return steps_ >= most_steps; }
    [[nodiscard]] const RecordedBlocks& recorded() const { return out_; }
    [[nodiscard]] RecordedBlocks take() {
        out_.is_cut = is_cut();
        return std::move(out_);
    }

  private:
    struct OpenLoop {
        std::uint16_t loop = 0;
        std::uint32_t depth = 0;  // of the frame
        std::uint64_t iteration = 0;
    };
    struct WarpState {
        std::vector<OpenLoop> open;
        std::vector<std::uint32_t> last_step;  // by stretch; none: it is not kept
    };
    // Of an instruction, whichever warp's.
    struct LastAccess {
        std::size_t block = no_block;
        unsigned bytes = 0;
        LaneAccess lanes{};
        Request request{};
    };
    static constexpr std::size_t no_block = ~std::size_t{0};
    [[nodiscard]] Request& request_of(Place place, std::uint32_t instruction);

    const BuiltCode& code_;
    StoreRules stores_;
    std::vector<std::vector<WarpState>> warps_;  // by block
    std::unordered_map<std::uint32_t, LastAccess> last_accesses_;
    std::size_t steps_ = 0;
    RecordedBlocks out_;
};

}  // namespace trimtab::schedule
