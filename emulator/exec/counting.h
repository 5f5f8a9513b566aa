// Where a worker counts while blocks run. Sums and maxima only: the same whoever counted what.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/exec/code.h"
#include "emulator/exec/counters.h"
#include "emulator/exec/op.h"
#include "emulator/exec/sector_set.h"

namespace trimtab::emulator {

struct Warp;
struct Launch;

struct SlotCount {
    std::uint64_t warp = 0, thread = 0, divergent = 0;
    [[nodiscard]] bool empty() const { return (warp | divergent) == 0; }
};

// What requests of lanes far apart touched lately: loops often touch the same sectors again, and footprints
// have them already.
struct RecentRequests {
    struct Request {
        bool valid = false;
        bool in_warp_footprint = false;  // not of the block alone
        std::uint64_t sector[warp_lanes] = {};
        std::uint64_t sectors = 0, lines = 0;
    };
    Request requests[4];
    unsigned oldest = 0;
    void forget() {
        for (Request& request : requests) request.valid = false;
    }
};

// The same for compiled code: what a request of all lanes touched last, by a number that stands for a place
// in the code. Compiled code finds out itself whether a request is like it.
struct LastRequests {
    static constexpr std::uint32_t count = 64;
    struct Request {
        alignas(64) std::uint64_t sector[warp_lanes] = {};
        std::uint64_t warp = 0;  // LastRequests::warp when it was made
        std::uint64_t sectors = 0, lines = 0;
    };
    std::uint64_t warp = 1;  // counts the warps
    Request requests[count];
};

struct WorkerCounts {
    bool enabled = false, footprints = false;
    std::vector<SlotCount> active, inactive;     // by region: how often warps passed it
    std::vector<InstructionCount> instructions;  // memory and branch fields alone
    std::uint64_t blocks = 0, warps = 0, active_blocks = 0, active_warps = 0;
    std::uint64_t barriers = 0, branches = 0, divergent_branches = 0;
    std::uint64_t dependent_rounds = 0, max_dependent_rounds = 0, max_warp_instructions = 0;
    std::uint64_t block_sectors = 0, footprint_warps = 0, warp_sectors = 0;
    SectorSet warp_footprint, block_footprint, total_footprint;
    RecentRequests recent;
    LastRequests last;
    // For compiled code: of `block_footprint`; and of none, for warps that have footprints of their own.
    SectorSet::Table block_table = block_footprint.table();
    SectorSet::Slot no_slots[2];
    SectorSet::Table no_table{no_slots, 63};
};

// The counts of every worker as the launch's.
[[nodiscard]] LaunchCounters gather_counters(const CompiledKernel& kernel, const KernelCode& code,
                                             const std::vector<const WorkerCounts*>& workers);
[[nodiscard]] InstructionClass class_of(const ptx::Instruction& instruction);

// Footprints of groups and of the launch.
void collect_footprints(Launch& launch, const std::vector<const WorkerCounts*>& workers,
                        LaunchCounters& counters);

// A warp has exited.
void finish_warp_counts(Warp& w, WorkerCounts& counts, const KernelCode& code);

}  // namespace trimtab::emulator
