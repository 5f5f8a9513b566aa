// Predicted time over blocks, as a table of HTML whose cells are coloured.
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

// Columns are widths, rows heights and depths; green is the least time, red the most, by their logarithms.
// Where there are many sizes, the powers of two stand for them, with those of the block as written and the
// chosen one, which are marked. Empty without blocks.
[[nodiscard]] std::string heat_map(const std::vector<MappedBlock>& blocks, const BlockSize& written,
                                   const BlockSize& chosen);
// What goes into the page's style element, once.
[[nodiscard]] std::string heat_map_style();

}  // namespace trimtab::tools
