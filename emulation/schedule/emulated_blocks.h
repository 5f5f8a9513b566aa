// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that the functional emulator runs.
#pragma once

#include "emulation/schedule/block_source.h"
#include "emulation/schedule/skip_iterations.h"
#include "emulation/schedule/traced_launch.h"

namespace trimtab::schedule {

class EmulatedBlocks final : public BlockSource {
  public:
    explicit EmulatedBlocks(const TraceRequest& request);

    [[nodiscard]] std::expected<RecordedBlocks, Error> record(const BuiltCode& code, const StoreRules& stores,
                                                              std::span<const std::uint64_t> blocks) override;
    [[nodiscard]] std::expected<std::uint64_t, Error> count(std::span<const std::uint64_t> blocks) override;
    [[nodiscard]] std::vector<std::uint64_t> first_addresses(const BuiltCode& code,
                                                             std::uint64_t block) override;

    [[nodiscard]] std::uint64_t blocks_run() const { return blocks_run_; }
    [[nodiscard]] std::uint64_t warp_instructions() const { return warp_instructions_; }

  private:
    [[nodiscard]] std::expected<std::uint64_t, Error> launch(std::span<const std::uint64_t> blocks,
                                                             emulator::LaunchObserver* observer,
                                                             std::uint64_t limit);

    const TraceRequest& request_;
    emulator::LaunchRequest launch_;
    LoopsBySlot counted_;
    bool skipping_pays_ = false;
    std::uint64_t blocks_run_ = 0, warp_instructions_ = 0;
};

}  // namespace trimtab::schedule
