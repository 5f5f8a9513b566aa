// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jumps over functions that are already in memory: where no library can stand before them.
#pragma once

#include <cstddef>

namespace trimtab::runtime {

// What a jump takes: a shorter function has no room for one.
inline constexpr std::size_t jump_bytes = 14;

// false: the code is not writable.
[[nodiscard]] bool write_jump(std::byte* place, const void* target);

// Where the jump at that place leads; null: there is none.
[[nodiscard]] const void* jump_target(const void* place);

}  // namespace trimtab::runtime
