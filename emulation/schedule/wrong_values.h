// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a kernel is not as it would be after iterations of a loop were left out, and whether that shows in where its
// warps go and what they touch.
#pragma once

#include <vector>

#include "core/ptx/module.h"

namespace trimtab::schedule {

class WrongValues {
  public:
    explicit WrongValues(const ptx::Function& function)
        : function_(function), wrong_(function.registers.size(), false) {}

    void add(ptx::RegisterIndex reg) { wrong_[reg] = true; }
    void add_memory() { is_memory_wrong_ = true; }

    // With all that follows from what was added: no branch, guard or address anywhere in the function.
    [[nodiscard]] bool steer_nothing();

  private:
    [[nodiscard]] bool is_wrong(const ptx::Operand& operand) const;
    [[nodiscard]] bool reads_wrong(const ptx::Instruction& i) const;
    bool spread();
    [[nodiscard]] bool is_steered(const ptx::Instruction& i) const;

    const ptx::Function& function_;
    std::vector<bool> wrong_;  // by register
    bool is_memory_wrong_ = false, is_state_wrong_ = false;
};

}  // namespace trimtab::schedule
