// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicted time over blocks, as a chart of the report page.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trimtab::tools {

using BlockSize = std::array<std::uint32_t, 3>;

struct MappedBlock {
    BlockSize block{1, 1, 1};
    double ns = 0;  // above 0
};

// Every block: a heat map of `what` ("Predicted time") over widths and heights, a depth at a time, or a line where only one dimension varies.
// The block as written and the chosen one are marked, where they are among the blocks. Empty without blocks.
[[nodiscard]] std::string heat_map(const std::vector<MappedBlock>& blocks, const BlockSize& written,
                                   const BlockSize& chosen, const std::string& what = "Predicted time");

}  // namespace trimtab::tools
