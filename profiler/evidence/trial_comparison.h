// Did a launch leave what another one left?
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "analysis/description.h"
#include "profiler/evidence/trial_memory.h"
#include "ptx/types.h"

namespace trimtab::profiler {

// The first number, by address, that is another one.
struct TrialDifference {
    std::uint64_t address = 0;
    std::uint64_t words = 0;                       // of 4 bytes, that differ
    std::array<std::byte, 8> expected{}, found{};  // from `address` on
};

// What may differ by its rounding.
struct Roundings {
    // By address: numbers that floating-point atomics were added to; null: none.
    const std::unordered_map<std::uint64_t, ptx::Type>* atomics = nullptr;
    // Sums may be grouped otherwise in the whole kernel.
    bool sums = false;
};

// Between what `memory` holds and `expected`.
[[nodiscard]] std::optional<TrialDifference> compare(const TrialMemory& memory, const MemoryImage& expected,
                                                     const Roundings& roundings);

// "element 5 of 'out' is 3 instead of 7".
[[nodiscard]] std::string text_of(const TrialDifference& difference, const TrialMemory& memory,
                                  const emulator::Program& program,
                                  const analysis::KernelDescription& description);

}  // namespace trimtab::profiler
