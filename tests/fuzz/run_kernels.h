// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels run for a while on memory that is little and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "emulation/emulator/exec/launch.h"

namespace trimtab::fuzz {

// Four regions of 64 KiB, whose addresses are far from where they lie.
class Regions : public emulator::GlobalMemory {
  public:
    static constexpr std::uint64_t first = 0x7000'0000, bytes = 0x1'0000, gap = 0x1'0000, count = 4;
    Regions();
    [[nodiscard]] Range range_of(std::uint64_t address, emulator::Access access) override;
    [[nodiscard]] std::string explain(std::uint64_t address) const override;

  private:
    std::vector<std::unique_ptr<std::byte[]>> regions_;
};

enum class Watch : std::uint8_t { nothing, counted, checked };

// Some blocks of the launch, within a limit of instructions. What it answers is not looked at.
void run_some(emulator::Program& program, emulator::GlobalMemory& memory, std::string_view kernel,
              const trimtab_dim3& grid, const trimtab_dim3& block, std::uint32_t dynamic_shared_bytes,
              std::span<const std::byte> parameters, Watch watch);

}  // namespace trimtab::fuzz
