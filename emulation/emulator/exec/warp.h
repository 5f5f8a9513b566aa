// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of one warp: its registers, its paths through the code (SIMT), its frames.
//
// Divergence: lanes of a warp that take different ways become children of a path that waits at the immediate
// post-dominator, with those that are there already. The children form a tree, not a stack: a barrier, a
// collective or a long spin may put one aside and let another run, which is what independent thread
// scheduling (Volta and later) promises.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulation/emulator/exec/counting.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

class Block;
class Worker;
struct FunctionCode;
struct RegionInfo;
struct InstructionCount;
namespace jit {
struct Services;
}

// An activation of a function. Siblings of a divergence share one; each lane leaves it once.
struct Frame {
    const FunctionCode* function = nullptr;
    Frame* caller = nullptr;
    const Op* return_to = nullptr;       // in the caller; the op before it is the call
    std::byte* registers = nullptr;      // aligned to 64 bytes
    std::byte* constants = nullptr;      // nobody writes to them
    std::uint32_t lanes = 0;             // that have not left it
    std::uint32_t instruction_base = 0;  // of the function in the kernel's numbering
    std::uint32_t local_base = 0;        // of its variables in each lane's local memory
    std::uint32_t local_end = 0;
    std::uint32_t depth = 0;
    std::vector<std::byte> storage;
};

// Atomics that change nothing and volatile loads, one after the other: lanes may be waiting. So much of it
// ends the warp's slice.
inline constexpr std::uint32_t spin_limit = 4096, spin_of_atomic = 16, spin_of_load = 1;

struct Path {
    enum class State : std::uint8_t { free, ready, joining, at_barrier, at_collective };
    State state = State::free;
    const Op* pc = nullptr;  // where it goes on; joining: where its children come together
    std::uint32_t lanes = 0;
    const Op* join = nullptr;  // where its parent waits, in `join_frame`; nullptr: nowhere
    Frame* join_frame = nullptr;
    Frame* frame = nullptr;
    int parent = -1;
    std::uint32_t children = 0;
    std::uint32_t barrier = 0;  // at_barrier: its number
    bool forced = false;        // at_collective: nobody else comes, it goes on with the lanes it has
};

struct Warp {
    enum class Stop : std::uint8_t { none, waiting, finished, yielded, fault };

    // What every handler touches.
    std::byte* bases[4] = {};
    std::uint32_t mask = 0;        // lanes that execute: of the path, where the guard holds
    std::uint32_t path_lanes = 0;  // lanes of the path
    Frame* frame = nullptr;
    const Op* join = nullptr;
    Frame* join_frame = nullptr;
    CachedRange* ranges = nullptr;                   // by instruction of the current function
    InstructionCount* counts = nullptr;              // likewise; counted launches
    const std::atomic<Handler>* compiled = nullptr;  // by function; nullptr: this launch is interpreted
    const jit::Services* services = nullptr;         // what compiled code calls
    std::uint64_t executed = 0, check_at = 0;
    std::byte* shared = nullptr;
    std::uint64_t shared_bytes = 0;
    Stop stop = Stop::none;
    bool active = false;               // it met a barrier or memory (core/model/metrics.h); counted launches
    bool is_footprint_wanted = false;  // its own, besides the block's; counted launches
    alignas(64) std::int32_t lane_mask[warp_lanes] = {};  // -1 where `mask` has the lane, 0 elsewhere
    LaneAddresses at;

    Block* block = nullptr;
    Worker* worker = nullptr;
    std::uint64_t filled_for = ~std::uint64_t{0};  // the block whose values the special registers have
    // Compiled code that comes to the kernel's end with all lanes may go on as the next warp, `more_warps`
    // times: nobody else need know until Block::settle().
    const std::uint32_t* threads = nullptr;  // Worker::thread_indices of it
    std::uint32_t index = 0;                 // in its block
    std::uint32_t more_warps = 0;
    std::uint32_t may_pass_on = 0;      // 1: at the kernel's end it may ask Block::pass_on() for more
    std::uint32_t settled = unsettled;  // the index that its block and its special registers know of
    static constexpr std::uint32_t unsettled = ~0u;
    std::uint32_t place = 0;  // in its block's list of warps
    std::uint32_t live = 0;   // lanes that have not exited
    std::uint32_t spins = 0;  // consecutive atomics and volatile loads that found nothing new
    int current = -1;         // in `paths`
    bool came_apart = false;  // lanes stopped waiting for others that spun: they may never meet again
    int last_spun = -1;       // a path that gave up its turn: another goes first
    std::vector<Path> paths;
    Frame* outermost = nullptr;
    std::vector<LaneBytes> specials_storage;
    std::vector<std::byte> local;
    std::uint32_t local_stride = 0;  // bytes of `local` a lane
    std::uint64_t clock = 0;
    // At the looks at the launch's limits (Worker::check_limits): how many there were, the warp's state at
    // the last one, and how many of the next come early, because it was as before.
    std::uint32_t looks = 0, early_looks = 0;
    std::uint64_t last_state = 0;

    // Counting.
    std::vector<SlotCount> slots;      // by instruction of the kernel's numbering
    SlotCount* slot_counts = nullptr;  // slots.data(), for compiled code
    std::vector<std::uint32_t> touched;
    std::uint64_t dependent_rounds = 0;
    const RegionInfo* pending = nullptr;  // the region whose last loads nothing has waited for yet
    // For compiled code.
    SectorSet::Table* footprint_table = nullptr;  // its own footprint's, or the block's
    LastRequests* last_requests = nullptr;

    template <class T>
    [[nodiscard]] T* lanes(OperandRef ref) {
        return reinterpret_cast<T*>(bases[ref >> base_shift] + (ref & ((1u << base_shift) - 1)));
    }
    [[nodiscard]] std::uint32_t& predicate(OperandRef ref) { return *lanes<std::uint32_t>(ref); }
    void set_mask(std::uint32_t lanes_now) {
        if (mask == lanes_now) return;
        mask = lanes_now;
        for (unsigned lane = 0; lane < warp_lanes; lane++)
            lane_mask[lane] = -static_cast<std::int32_t>((lanes_now >> lane) & 1u);
    }
    void spun(std::uint32_t weight) {
        spins += weight;
        if (spins >= spin_limit) check_at = 0;
    }
    // Writes the active lanes of a predicate.
    void write_predicate(OperandRef ref, std::uint32_t bits) {
        std::uint32_t& d = predicate(ref);
        d = (d & ~mask) | (bits & mask);
    }
};

}  // namespace trimtab::emulator
