// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Did a launch leave what another one left?
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/analysis/launches/description.h"
#include "emulation/emulator/check/written_numbers.h"
#include "profiler/evidence/trial_memory.h"

namespace trimtab::profiler {

// The first number, by address, that is another one.
struct TrialDifference {
    std::uint64_t address = 0;
    std::uint64_t words = 0;                       // of 4 bytes, that differ
    std::array<std::byte, 8> expected{}, found{};  // from `address` on
};

// What may differ by its rounding (docs/legality.md, "What rounding explains").
struct Roundings {
    // What the launch as written wrote, on the same pages; null: nothing rounds otherwise.
    const emulator::check::WrittenNumbers* numbers = nullptr;
    bool sums = false;           // sums of blocks are grouped otherwise, too
    bool is_as_written = false;  // it is compared with itself in another order
};

// Between what `memory` holds and `expected`.
[[nodiscard]] std::optional<TrialDifference> compare(const TrialMemory& memory, const MemoryImage& expected,
                                                     const Roundings& roundings);

// "element 5 of 'out' is 3 instead of 7".
[[nodiscard]] std::string text_of(const TrialDifference& difference, const TrialMemory& memory,
                                  const emulator::Program& program,
                                  const analysis::KernelDescription& description);

}  // namespace trimtab::profiler
