// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointers of a captured launch into variables that lie elsewhere now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trimtab::emulator::capture {

// A variable that lies elsewhere than when the launch was captured.
struct MovedVariable {
    std::uint64_t captured = 0, now = 0, size_bytes = 0;
};
// Makes every aligned word that points into such a variable point to where it is now.
void move_pointers(std::span<std::byte> bytes, std::span<const MovedVariable> moved);

}  // namespace trimtab::emulator::capture
