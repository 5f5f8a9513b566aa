// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counted loops of several blocks of code: loops and branches within go the same way in every iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/liveness.h"
#include "emulation/schedule/counted_loops.h"

namespace trimtab::schedule {

class NestFinder {
  public:
    NestFinder(const emulator::FunctionCode& code, const ptx::ControlFlow& flow);

    [[nodiscard]] std::optional<CountedLoop> counted(const ptx::Loop& loop);

  private:
    // A register's value, of those at the top of an iteration: as `root` was there, with `add` done to it if there is
    // one. Nothing known: no root.
    struct Value {
        ptx::RegisterIndex root = ptx::no_index;
        const ptx::Instruction* add = nullptr;
        const ptx::Operand* by = nullptr;
    };
    struct Exit {
        std::uint32_t branch = 0;  // the instruction
        bool goes_on_if = true;
    };

    [[nodiscard]] const ptx::Instruction& at(std::uint32_t i) const { return function_.body[i]; }
    [[nodiscard]] std::optional<Exit> exit_of(const ptx::Loop& loop) const;
    [[nodiscard]] bool is_bare_way_back(const ptx::Loop& loop, const ptx::BasicBlock& block) const;
    [[nodiscard]] bool is_plain(const ptx::Loop& loop, std::uint32_t exit) const;
    template <class Visit>
    void visit_instructions(const ptx::Loop& loop, const Visit& visit) const;
    void find_regions(const ptx::Loop& loop, CountedLoop& out) const;
    void find_writes(const ptx::Loop& loop);
    void find_repeated(const ptx::Loop& loop);
    [[nodiscard]] bool goes_the_same_way(const ptx::Loop& loop, std::uint32_t exit) const;
    [[nodiscard]] std::vector<ptx::BlockIndex> always_once(const ptx::Loop& loop) const;
    [[nodiscard]] bool find_moving(const ptx::Loop& loop, std::uint32_t exit, CountedLoop& out);
    void follow(const ptx::Instruction& i);
    void add_moving(CountedLoop& out);
    [[nodiscard]] std::optional<LoopOperand> number_or_register(const ptx::Operand& o,
                                                                std::uint32_t bytes) const;
    [[nodiscard]] std::optional<LoopOperand> side(const ptx::Operand& o, const Value& value,
                                                  std::uint32_t bytes) const;
    [[nodiscard]] bool steers_nothing(const ptx::Loop& loop) const;

    const emulator::FunctionCode& code_;
    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    ptx::Liveness liveness_;
    // Of the loop that is looked at, by register: how often it writes it, also in what runs once an iteration; whether
    // it has the same values in every iteration; which of its moving ones it is; and its value so far.
    std::vector<std::uint32_t> writes_, writes_once_, moving_;
    std::vector<bool> is_repeated_;
    std::vector<Value> values_;
};

}  // namespace trimtab::schedule
