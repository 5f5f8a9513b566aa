// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What watches a launch from outside: the checks of emulation/emulator/check. A launch without one runs code that has
// no trace of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory_info.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

class Block;
struct RegionInfo;

// Called on one host thread: an observed launch has no others. An observer overrides what it wants to be told.
class LaunchObserver {
  public:
    LaunchObserver() = default;
    virtual ~LaunchObserver() = default;
    LaunchObserver(const LaunchObserver&) = delete;
    LaunchObserver& operator=(const LaunchObserver&) = delete;

    // A grid that the one before it launched from the device: it comes after all that was observed.
    virtual void grid_started() {}
    virtual void block_started([[maybe_unused]] const Block& block) {}
    virtual void block_finished([[maybe_unused]] const Block& block) {}
    // The lanes of Warp::mask are about to access the memory where Warp::at and `shape` say. Returns the
    // shape, or `fault` after it has called Worker::address_fault. Local memory and parameters excepted.
    [[nodiscard]] virtual LaneAddresses::Shape accesses([[maybe_unused]] Warp& w,
                                                        [[maybe_unused]] const Op* op,
                                                        LaneAddresses::Shape shape) {
        return shape;
    }
    // The same of local memory, `Warp::at.address` being the host's: lane l's memory begins at Warp::local + l *
    // Warp::local_stride.
    virtual void accesses_local([[maybe_unused]] Warp& w, [[maybe_unused]] const Op* op) {}
    // The path's lanes are at the top of a region; under a guard, those of Warp::mask. Counted launches alone.
    virtual void enters([[maybe_unused]] Warp& w, [[maybe_unused]] const RegionInfo& region) {}
    virtual void fence([[maybe_unused]] const Warp& w) {}
    // The path's lanes meet a barrier of the block.
    virtual void meets_barrier([[maybe_unused]] const Warp& w, [[maybe_unused]] const Op* op,
                               [[maybe_unused]] unsigned number, [[maybe_unused]] std::uint32_t threads) {}
    // The lanes that arrived, by warp, go on.
    virtual void barrier_completes([[maybe_unused]] const Block& block, [[maybe_unused]] unsigned number,
                                   [[maybe_unused]] std::span<const std::uint32_t> arrived) {}
    // `lanes` of the warp act together in an instruction with members (no_operand: the lanes that are there).
    virtual void warp_synchronizes([[maybe_unused]] Warp& w, [[maybe_unused]] const Op* op,
                                   [[maybe_unused]] OperandRef members,
                                   [[maybe_unused]] std::uint32_t lanes) {}
    // A launch is about to end with a fault; `what` is the message's middle.
    virtual void faults([[maybe_unused]] Warp& w, [[maybe_unused]] const Op* op,
                        [[maybe_unused]] Fault::Kind kind, [[maybe_unused]] unsigned lane,
                        [[maybe_unused]] const std::string& what) {}
};

// A resolver that tells the observer (MemoryInfo::unobserved does the work).
[[nodiscard]] LaneAddresses::Shape resolve_observed(Warp& w, const Op* op);

namespace run {
const Op* observe_fence(Warp& w, const Op* op);
const Op* observe_region(Warp& w, const Op* op);
const Op* observe_guarded(Warp& w, const Op* op);
}  // namespace run

}  // namespace trimtab::emulator
