// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPUs make one NaN where processors carry on the bits of an operand's. Which registers may hold any NaN in
// the place of that one, because what makes NaNs and what looks at their bits is all compiled: sums and
// products that feed one another need not be put right each time.
#pragma once

#include <vector>

#include "core/ptx/module.h"

namespace trimtab::emulator::jit {

// Compiled code has it in real arithmetic (Translator::translate_real), of f32 or f64.
[[nodiscard]] bool is_compiled_real(const ptx::Instruction& instruction);

class OpenNans {
  public:
    // `may_be_any`: otherwise there are none.
    OpenNans(const ptx::Function& function, bool may_be_any);
    [[nodiscard]] bool contains(ptx::RegisterIndex reg) const { return open_[reg]; }

  private:
    [[nodiscard]] bool is_made_by(const ptx::Instruction& instruction) const;
    [[nodiscard]] bool is_carried_by(const ptx::Instruction& instruction) const;

    const ptx::Function& function_;
    std::vector<bool> open_;  // by register
};

}  // namespace trimtab::emulator::jit
