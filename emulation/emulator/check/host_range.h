// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace trimtab::emulator::check {

// Is the host's address one of those bytes?
[[nodiscard]] inline bool is_within(std::uint64_t address, const void* first, std::uint64_t bytes) {
    return address - reinterpret_cast<std::uint64_t>(first) < bytes;
}

}  // namespace trimtab::emulator::check
