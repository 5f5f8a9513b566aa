// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a kernel's loads go from thread to thread: what says whether threads load the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "emulation/emulator/exec/launch.h"

namespace trimtab::emulator {

// Of one global load: the addresses that one thread in the middle of the launch loads from, and how they move if its index
// grows by one.
struct LoadPattern {
    std::uint32_t instruction = 0;         // in the kernel's numbering
    std::uint32_t bytes = 0;               // of a lane
    std::array<std::int64_t, 3> stride{};  // bytes, by x, y and z of the thread's index in the whole grid
    std::vector<std::uint64_t> addresses;  // the first ones, in the order of execution
};

struct AccessPatterns {
    // Only loads whose addresses follow the thread's index in the whole grid, blockIdx * blockDim + threadIdx, linearly
    // in each dimension; of others nothing is known.
    std::vector<LoadPattern> loads;
};

// Runs some blocks in the middle of the launch of `request`, whose blocks and observer are replaced. An error says why
// there is nothing to see.
[[nodiscard]] std::expected<AccessPatterns, std::string> access_patterns(Program& program,
                                                                         GlobalMemory& memory,
                                                                         LaunchRequest request);

}  // namespace trimtab::emulator
