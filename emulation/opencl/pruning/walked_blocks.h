// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose warps are walked: static traces of a launch, for abstract emulation (section 4.2).
#pragma once

#include "emulation/opencl/pruning/warp_walk.h"
#include "emulation/schedule/block_source.h"
#include "trimtab/driver.h"

namespace trimtab::pruning {

class WalkedBlocks final : public schedule::BlockSource {
  public:
    WalkedBlocks(WarpWalk& walk, trimtab_dim3 grid, trimtab_dim3 group);

    [[nodiscard]] std::expected<schedule::RecordedBlocks, Error> record(
        const schedule::BuiltCode& code, const schedule::StoreRules& stores,
        std::span<const std::uint64_t> blocks) override;
    [[nodiscard]] std::expected<std::uint64_t, Error> count(std::span<const std::uint64_t> blocks) override;
    [[nodiscard]] std::vector<std::uint64_t> first_addresses(const schedule::BuiltCode& code,
                                                             std::uint64_t block) override;

  private:
    [[nodiscard]] WalkPlace place_of(std::uint64_t block, std::uint32_t warp) const;

    WarpWalk& walk_;
    trimtab_dim3 grid_, group_;
    std::vector<WarpLanes> lanes_;  // by warp of a group
};

}  // namespace trimtab::pruning
