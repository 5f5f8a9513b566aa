// What watches a launch from outside: the checks of emulator/check. A launch without one runs code that has
// no trace of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emulator/exec/launch.h"
#include "emulator/exec/memory_info.h"
#include "emulator/exec/op.h"

namespace trimtab::emulator {

class Block;
struct RegionInfo;

// Called on one host thread: an observed launch has no others.
class LaunchObserver {
  public:
    LaunchObserver() = default;
    virtual ~LaunchObserver() = default;
    LaunchObserver(const LaunchObserver&) = delete;
    LaunchObserver& operator=(const LaunchObserver&) = delete;

    // A grid that the one before it launched from the device: it comes after all that was observed.
    virtual void grid_started() = 0;
    virtual void block_started(const Block& block) = 0;
    virtual void block_finished(const Block& block) = 0;
    // The lanes of Warp::mask are about to access the memory where Warp::at and `shape` say. Returns the
    // shape, or `fault` after it has called Worker::address_fault. Local memory and parameters excepted.
    [[nodiscard]] virtual LaneAddresses::Shape accesses(Warp& w, const Op* op,
                                                        LaneAddresses::Shape shape) = 0;
    // The path's lanes are at the top of a region; under a guard, those of Warp::mask. Counted launches alone.
    virtual void enters(Warp& w, const RegionInfo& region) {
        (void)w;
        (void)region;
    }
    virtual void fence(const Warp& w) = 0;
    // The path's lanes meet a barrier of the block.
    virtual void meets_barrier(const Warp& w, const Op* op, unsigned number, std::uint32_t threads) = 0;
    // The lanes that arrived, by warp, go on.
    virtual void barrier_completes(const Block& block, unsigned number,
                                   std::span<const std::uint32_t> arrived) = 0;
    // `lanes` of the warp act together in an instruction with members (no_operand: the lanes that are there).
    virtual void warp_synchronizes(Warp& w, const Op* op, OperandRef members, std::uint32_t lanes) = 0;
    // A launch is about to end with a fault; `what` is the message's middle.
    virtual void faults(Warp& w, const Op* op, Fault::Kind kind, unsigned lane, const std::string& what) = 0;
};

// A resolver that tells the observer (MemoryInfo::unobserved does the work).
[[nodiscard]] LaneAddresses::Shape resolve_observed(Warp& w, const Op* op);

namespace run {
const Op* observe_fence(Warp& w, const Op* op);
const Op* observe_region(Warp& w, const Op* op);
const Op* observe_guarded(Warp& w, const Op* op);
}  // namespace run

}  // namespace trimtab::emulator
