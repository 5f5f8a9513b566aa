// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/capture/moved_pointers.h"

#include <algorithm>
#include <cstring>

namespace trimtab::emulator::capture {

void move_pointers(std::span<std::byte> bytes, std::span<const MovedVariable> moved) {
    if (moved.empty()) return;
    std::uint64_t word = 0;
    for (std::size_t at = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
        std::memcpy(&word, bytes.data() + at, sizeof word);
        const auto place = std::ranges::find_if(moved, [word](const MovedVariable& variable) {
            return word - variable.captured < variable.size_bytes;
        });
        if (place == moved.end()) continue;
        word = place->now + (word - place->captured);
        std::memcpy(bytes.data() + at, &word, sizeof word);
    }
}

}  // namespace trimtab::emulator::capture
