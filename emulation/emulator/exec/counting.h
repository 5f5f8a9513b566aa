// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a worker counts while blocks run. Sums and maxima only: the same whoever counted what.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/counters.h"
#include "emulation/emulator/exec/op.h"
#include "emulation/emulator/exec/sector_set.h"

namespace trimtab::emulator {

struct Warp;
struct Launch;

struct SlotCount {
    std::uint64_t warp = 0, thread = 0, divergent = 0;

    SlotCount& operator+=(const SlotCount& more) {
        warp += more.warp;
        thread += more.thread;
        divergent += more.divergent;
        return *this;
    }
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
        // Each lane is in a window of its own, whose sectors go to the footprint when it leaves the window.
        bool is_apart = false;
        std::uint64_t waiting[warp_lanes] = {};
    };
    std::uint64_t warp = 1;  // counts the warps
    Request requests[count];
    std::uint64_t are_waiting = 0;  // bit i: request i

    void settle(std::uint32_t number, SectorSet& footprint) {
        Request& request = requests[number];
        for (unsigned lane = 0; lane < warp_lanes; lane++) {
            footprint.insert_window(request.sector[lane] >> 6, request.waiting[lane]);
            request.waiting[lane] = 0;
        }
        are_waiting &= ~(std::uint64_t{1} << number);
    }
    void next_warp(SectorSet& footprint) {
        for (; are_waiting != 0;)
            settle(static_cast<std::uint32_t>(std::countr_zero(are_waiting)), footprint);
        warp++;
    }
};

struct WorkerCounts : WarpCounts {
    bool enabled = false, footprints = false;
    std::vector<SlotCount> active, inactive;     // by region: how often warps passed it
    std::vector<InstructionCount> instructions;  // memory and branch fields alone
    SectorSet warp_footprint, block_footprint, total_footprint;
    RecentRequests recent;
    // Of warps whose footprint is looked at, and of the others.
    LastRequests last_in_warp, last;
    // For compiled code. What a warp's own footprint has joins the block's at its end.
    SectorSet::Table block_table = block_footprint.table(), warp_table = warp_footprint.table();
    void update_tables() {
        block_table = block_footprint.table();
        warp_table = warp_footprint.table();
    }
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
