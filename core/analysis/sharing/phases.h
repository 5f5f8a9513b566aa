// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of a block cut what its threads do into phases: what one thread does before a barrier comes before
// all that any thread of the block does behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/values/function_values.h"

namespace trimtab::analysis {

class Phases {
  public:
    explicit Phases(const FunctionValues& kernel);
    // With the barriers at these places, whatever stands there by now.
    Phases(const FunctionValues& kernel, std::vector<std::uint32_t> barriers);

    [[nodiscard]] const std::vector<std::uint32_t>& barriers() const { return barriers_; }
    // A bit for each place where a phase begins, the entry first, from which the instruction is reached
    // without another barrier. What has no bit in common is never done in one phase; beyond 64 places, the
    // last bit stands for all others.
    [[nodiscard]] std::uint64_t of(std::uint32_t instruction) const { return masks_[instruction]; }
    // Is there a way from behind the one instruction to the other that meets no barrier?
    [[nodiscard]] bool leads(std::uint32_t from, std::uint32_t to) const;

  private:
    static std::vector<std::uint32_t> block_barriers(const FunctionValues& kernel);
    [[nodiscard]] std::vector<bool> reached(ptx::BlockIndex block, std::uint32_t instruction) const;

    const ptx::ControlFlow& flow_;
    std::vector<std::uint32_t> barriers_;
    std::vector<bool> is_barrier_;      // by instruction
    std::vector<std::uint64_t> masks_;  // by instruction
};

}  // namespace trimtab::analysis
