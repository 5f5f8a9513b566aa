// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who says what blocks of a launch do.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "emulation/schedule/trace_writer.h"
#include "trimtab/error.h"

namespace trimtab::schedule {

class BlockSource {
  public:
    BlockSource() = default;
    BlockSource(const BlockSource&) = delete;
    BlockSource& operator=(const BlockSource&) = delete;
    virtual ~BlockSource() = default;

    // Blocks are asked for by their linear index in the grid.
    [[nodiscard]] virtual std::expected<RecordedBlocks, Error> record(
        const BuiltCode& code, const StoreRules& stores, std::span<const std::uint64_t> blocks) = 0;
    // The warp instructions of the blocks.
    [[nodiscard]] virtual std::expected<std::uint64_t, Error> count(
        std::span<const std::uint64_t> blocks) = 0;
    // By access, as RecordedBlocks has them, of one block.
    [[nodiscard]] virtual std::vector<std::uint64_t> first_addresses(const BuiltCode& code,
                                                                     std::uint64_t block) = 0;
};

}  // namespace trimtab::schedule
