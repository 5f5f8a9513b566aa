// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watches the launches of a process for defects of its kernels, and keeps the reports.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "emulation/emulator/check/allocation_log.h"
#include "emulation/emulator/check/checks.h"
#include "emulation/emulator/check/ordering.h"
#include "emulation/emulator/check/race_shadow.h"
#include "emulation/emulator/check/report.h"
#include "emulation/emulator/exec/observer.h"

namespace trimtab::emulator {
class CompiledKernel;
}  // namespace trimtab::emulator

namespace trimtab::emulator::check {

// Launches are watched one at a time: begin_launch() waits for the end of the one before.
class Checker : public LaunchObserver {
  public:
    explicit Checker(const Checks& checks) : checks_(checks) {}

    [[nodiscard]] const Checks& checks() const { return checks_; }

    // From the host's calls, any thread.
    void allocated(const void* first, std::uint64_t size_bytes, bool is_tracked);
    void released(const void* first);
    void filled(const void* first, std::uint64_t bytes);
    void copied(const void* to, const void* from, std::uint64_t bytes);

    // Around all runs of one kernel launch, which may be several: of some of its blocks each.
    void begin_launch();
    void end_launch();
    [[nodiscard]] std::vector<Report> reports() const;
    // JSON of all reports so far.
    [[nodiscard]] std::string json() const;

    // LaunchObserver
    void grid_started() override;
    void block_started(const Block& block) override;
    void block_finished(const Block& block) override;
    [[nodiscard]] LaneAddresses::Shape accesses(Warp& w, const Op* op, LaneAddresses::Shape shape) override;
    void fence(const Warp& w) override;
    void meets_barrier(const Warp& w, const Op* op, unsigned number, std::uint32_t threads) override;
    void barrier_completes(const Block& block, unsigned number,
                           std::span<const std::uint32_t> arrived) override;
    void warp_synchronizes(Warp& w, const Op* op, OperandRef members, std::uint32_t lanes) override;
    void faults(Warp& w, const Op* op, Fault::Kind kind, unsigned lane, const std::string& what) override;

  private:
    // A barrier that lanes wait at.
    struct Meeting {
        std::vector<std::uint32_t> arrived;  // by warp
        std::vector<std::uint32_t> met_by;   // by warp: at which instruction
        // By warp, of a barrier for whole warps: lanes that were awaited when others of theirs came, and
        // still are; those of them that have done something since.
        std::vector<std::uint32_t> absent, strayed;
        std::uint32_t instruction = 0;  // of who came first
        std::uint32_t warp = 0;
        unsigned lane = 0;
        bool is_open = false;
    };
    struct OpenBlock {
        RaceShadow shared_accesses;
        std::vector<std::uint64_t> shared_written;  // a bit a byte
        std::map<unsigned, Meeting> meetings;       // by barrier number
    };
    // An access of one lane.
    struct LaneAccess {
        Warp& w;
        const Op* op;
        unsigned lane;
        std::uint64_t host;
        std::uint64_t shared_offset;  // where is_shared
        bool is_shared;
    };

    [[nodiscard]] OpenBlock& open_block(const Warp& w);
    [[nodiscard]] AccessPlace access_of(const Warp& w, std::uint32_t instruction, unsigned lane) const;
    [[nodiscard]] AccessPlace access_of(const Warp& w, const Stamp& stamp) const;
    // A report to fill in where the site is new.
    [[nodiscard]] Report* found(const Warp& w, std::uint32_t instruction, unsigned lane, const char* check,
                                const char* kind, std::uint32_t other_instruction = 0);
    // Lanes that go on while others of their warp wait at a barrier.
    void note_absent(const Warp& w);
    void check_absent(const Block& block, const Meeting& meeting, unsigned number);
    void add_allocation(Report& report, const AllocationLog::Allocation& allocation) const;
    [[nodiscard]] bool is_outside(const LaneAccess& access);
    void check_init(const LaneAccess& access);
    void check_races(const LaneAccess& access);
    [[nodiscard]] bool begins_swap_loop(const Warp& w, const Op* op);
    void order(const Warp& w, const Op* op);

    const Checks checks_;
    std::mutex launch_mutex_;   // held from begin_launch() to end_launch()
    mutable std::mutex mutex_;  // of the next two
    AllocationLog log_;
    Reports reports_;
    bool reports_own_fault_ = false;  // the fault to come is one that accesses() has reported
    Ordering ordering_;
    RaceShadow global_accesses_;
    std::map<const Op*, bool> begins_swap_loop_;  // what was found of this launch's loads
    std::map<std::uint64_t, OpenBlock> blocks_;   // by linear index
};

}  // namespace trimtab::emulator::check
