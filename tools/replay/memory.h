// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A captured launch's memory, at the addresses that it had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "emulation/emulator/capture/capture.h"

namespace trimtab::tools {

// Maps and fills every allocation. Before the first call of CUDA, which takes addresses as it likes. The error:
// something of this process lies there.
[[nodiscard]] std::expected<void, Error> map_allocations(
    const std::vector<emulator::capture::Region>& allocations);

// The bytes at an address of this process.
[[nodiscard]] std::span<std::byte> bytes_at(std::uint64_t address, std::size_t size_bytes);

}  // namespace trimtab::tools
