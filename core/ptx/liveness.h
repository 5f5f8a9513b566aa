// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which registers hold a value that is still needed, at any instruction of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/instruction_registers.h"

namespace trimtab::ptx {

class RegisterSet {
  public:
    explicit RegisterSet(std::size_t registers = 0) : words_((registers + 63) / 64) {}
    void insert(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
    void erase(std::uint32_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
    [[nodiscard]] bool contains(std::uint32_t i) const { return ((words_[i / 64] >> (i % 64)) & 1) != 0; }
    bool merge(const RegisterSet& other);  // true: it grew
    bool merge_without(const RegisterSet& other, const RegisterSet& removed);
    [[nodiscard]] std::vector<RegisterIndex> list() const;

  private:
    std::vector<std::uint64_t> words_;
};

class Liveness {
  public:
    Liveness(const Function& function, const ControlFlow& flow);
    [[nodiscard]] const RegisterSet& into(BlockIndex block) const { return in_[block]; }
    [[nodiscard]] const RegisterSet& out_of(BlockIndex block) const { return out_[block]; }
    // Before instruction `index`; the function's end: none.
    [[nodiscard]] RegisterSet before(std::uint32_t index) const;

    // From behind the instruction to before it: dies(register) for each that need not be kept before it, then
    // lives(register) for each that must.
    template <class Lives, class Dies>
    static void step_back(const Instruction& instruction, const Lives& lives, const Dies& dies) {
        // What is written under a guard alone keeps its old value elsewhere.
        if (instruction.guard == no_index)
            visit_writes(instruction, dies);
        else
            visit_writes(instruction, lives);
        visit_reads(instruction, lives);
    }

  private:
    const Function& function_;
    const ControlFlow& flow_;
    std::vector<RegisterSet> in_, out_;
};

}  // namespace trimtab::ptx
