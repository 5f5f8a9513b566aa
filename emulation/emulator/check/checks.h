// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which defects of programs the emulator looks for: trimtab run --check, TRIMTAB_CHECK.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "trimtab/error.h"

namespace trimtab::emulator::check {

struct Checks {
    bool memory = false;  // accesses outside allocations, after a free, or misaligned
    bool race = false;    // two threads, one of which writes, with nothing that orders them
    bool init = false;    // reads of device or shared memory that nothing has written
    bool sync = false;    // barriers and warp collectives that not all their lanes meet together
    // With `race`: two stores of one value are a race too. Not of the command line's: many programs set flags so.
    bool equal_stores = false;

    [[nodiscard]] bool any() const { return memory || race || init || sync; }
};

// "memory,race,init,sync", or "all". The error names the word that is none of them.
[[nodiscard]] std::expected<Checks, Error> parse_checks(std::string_view text);
[[nodiscard]] std::string text_of(const Checks& checks);

}  // namespace trimtab::emulator::check
