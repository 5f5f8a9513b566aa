// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Watches the functional emulation of some blocks and writes down what their warps did. Iterations of `counted` loops that
// are not kept are not even run.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "emulation/emulator/exec/observer.h"
#include "emulation/schedule/skip_iterations.h"
#include "emulation/schedule/trace_writer.h"

namespace trimtab::schedule {

class Recorder : public emulator::LaunchObserver {
  public:
    Recorder(const BuiltCode& code, const StoreRules& stores, const emulator::Program& program,
             const LoopsBySlot& counted)
        : program_(program), counted_(counted), writer_(code, stores) {}

    [[nodiscard]] TraceWriter& writer() { return writer_; }
    // That iterations would have run which were left out.
    [[nodiscard]] std::uint64_t skipped_instructions() const { return skipped_; }

    // Of another kernel, or of no block that is asked about.
    void grid_started() override { is_over_ = true; }
    void block_started(const emulator::Block& block) override;
    [[nodiscard]] emulator::LaneAddresses::Shape accesses(emulator::Warp& w, const emulator::Op* op,
                                                          emulator::LaneAddresses::Shape shape) override;
    void accesses_local(emulator::Warp& w, const emulator::Op* op) override;
    void enters(emulator::Warp& w, const emulator::RegionInfo& region) override;

  private:
    // When a warp last came to the top of a nest.
    struct SeenTop {
        std::uint32_t lanes = 0;
        TraceWriter::Mark mark{};
    };

    [[nodiscard]] TraceWriter::Place place_of(const emulator::Warp& w) const;
    void leave_out_nest(emulator::Warp& w, TraceWriter::Place place, const CountedLoop& nest);

    const emulator::Program& program_;
    const LoopsBySlot& counted_;
    TraceWriter writer_;
    std::map<std::uint64_t, std::size_t> number_of_;
    std::map<std::tuple<std::size_t, std::size_t, std::uint32_t>, SeenTop>
        seen_tops_;  // by block, warp and slot
    std::uint64_t skipped_ = 0;
    bool is_over_ = false;  // what runs now was launched from the device
};

}  // namespace trimtab::schedule
