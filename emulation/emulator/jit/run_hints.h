// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where lanes probably lie: registers whose values, within runs of neighbouring lanes, differ by known
// offsets whatever the runs' own first values are. In a block 16 threads wide, y * width + x is two such
// runs. Compiled code looks whether it is so before it relies on it.
#pragma once

#include <optional>
#include <vector>

#include "emulation/emulator/jit/shapes.h"

namespace trimtab::emulator::jit {

class RunHints {
  public:
    RunHints(const ptx::Function& function, const ptx::ControlFlow& flow, const LanePatterns& lanes);
    // Lanes in a run: a power of two, at least 8.
    [[nodiscard]] unsigned run_lanes() const { return run_lanes_; }
    // Offsets of the lanes from the first one of their run.
    [[nodiscard]] const std::optional<Offsets>& of(ptx::RegisterIndex reg) const {
        return hints_[reg].offsets;
    }

  private:
    struct Hint {
        bool known = false;  // something writes it
        std::optional<Offsets> offsets;
        friend bool operator==(const Hint&, const Hint&) = default;
    };
    [[nodiscard]] Hint of(const ptx::Operand& operand) const;
    [[nodiscard]] Hint special(const ptx::Operand& operand) const;
    [[nodiscard]] Hint result(const ptx::Instruction& instruction) const;
    [[nodiscard]] bool propagate(const ptx::Instruction& instruction);

    const LanePatterns& lanes_;
    const unsigned run_lanes_;
    std::vector<Hint> hints_;
};

}  // namespace trimtab::emulator::jit
