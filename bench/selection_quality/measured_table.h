// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of measured kernel times: gpu,app,kernel,n,bx,by,time_ms,repeats,status, a line a timed block.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::bench {

struct Block {
    std::uint32_t x = 1, y = 1;
    friend auto operator<=>(const Block&, const Block&) = default;
};

struct MeasuredBlock {
    Block block;
    double ms = 0;
};

// One kernel at one N on one GPU.
struct MeasuredCase {
    std::string gpu, app, kernel;
    std::uint64_t n = 0;
    std::vector<MeasuredBlock> blocks;  // no block twice: rows of one block count by their median

    [[nodiscard]] const MeasuredBlock* find(Block block) const;
};

// Columns may come in any order, further ones are ignored. In the order of the file. Errors name file and
// line.
[[nodiscard]] std::expected<std::vector<MeasuredCase>, Error> read_measured_table(const std::string& path);

}  // namespace trimtab::bench
