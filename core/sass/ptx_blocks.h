// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX that a function of SASS was made of: its blocks and loops over all of its functions, with counts.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/sass/match.h"

namespace trimtab::sass {

struct PtxBlock {
    double executions = 0;
    std::uint32_t loop = no_index;  // in PtxBlocks::loops
};

struct PtxLoop {
    std::uint32_t header = 0;  // in PtxBlocks::blocks
    std::uint32_t line = 0;
    double entries = 0;
};

struct PtxLine {
    const ptx::Instruction* instruction = nullptr;
    std::uint32_t block = 0;
    double executions = 0;
};

struct PtxBlocks {
    std::vector<PtxBlock> blocks;
    std::vector<PtxLoop> loops;
    std::unordered_map<std::uint32_t, PtxLine> lines;  // by line: its last instruction

    [[nodiscard]] const PtxLine* at(std::uint32_t line) const;
    [[nodiscard]] std::uint32_t loop_of(std::uint32_t block) const { return blocks[block].loop; }
};

[[nodiscard]] PtxBlocks ptx_blocks(std::span<const PtxCounts> counts, double warps);

// An access to memory other than constants and parameters.
[[nodiscard]] bool is_access(const ptx::Instruction& instruction);
[[nodiscard]] double access_bytes(const ptx::Instruction& instruction);
// One that ptxas makes one instruction of, and leaves in its block.
[[nodiscard]] bool is_anchor(const ptx::Instruction& instruction);

}  // namespace trimtab::sass
