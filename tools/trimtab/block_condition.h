// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From blocks that were tried to the block(...) clause of an annotation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trimtab::tools {

using Block = std::array<std::uint32_t, 3>;

// Conditions, with commas between them, that all of `allowed` meet and none of `refused`: few words where some
// say just that, else the list. What was not tried is let in only where blocks like it were: powers of two, or
// whole warps.
[[nodiscard]] std::string block_condition(const std::vector<Block>& allowed,
                                          const std::vector<Block>& refused);

}  // namespace trimtab::tools
