// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static single assignment over PTX's registers and what else instructions leave to each other (opcodes.h,
// State), kept beside the function: PTX itself is not rewritten.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/opcodes.h"

namespace trimtab::ptx {

using ValueIndex = std::uint32_t;

// What an instruction reads and writes without naming it as an operand has these in the place of its number.
inline constexpr std::uint16_t guard_operand = 0xffff;
[[nodiscard]] constexpr std::uint16_t state_operand(State state) {
    return static_cast<std::uint16_t>(0xfffe - static_cast<unsigned>(state));
}

struct Value {
    enum class Kind : std::uint8_t {
        undefined,    // read before any write
        instruction,  // written by `instruction`, by its destination operand `operand` (element `element` if
                      // a vector), or a state
        phi           // at the head of `block`; `incoming` matches the block's predecessors in order
    };
    Kind kind = Kind::undefined;
    RegisterIndex reg = no_index;
    std::uint32_t instruction = no_index;
    std::uint16_t operand = 0, element = 0;
    BlockIndex block = no_index;
    std::vector<ValueIndex> incoming;
    // A guarded instruction that writes a register may leave it as it was: the value before is then
    // `previous`.
    ValueIndex previous = no_index;
};

struct Ssa {
    std::vector<Value> values;
    // States are followed as registers are; their numbers begin here. no_index: nothing reads any.
    RegisterIndex first_state = no_index;
    struct Use {
        // operand: an index of Instruction::operands, guard_operand or a state_operand. element: the place in
        // a vector; of an address 0 is the base, and its further operands count from 1.
        std::uint16_t operand = 0, element = 0;
        RegisterIndex reg = no_index;
        ValueIndex value = no_index;
    };
    std::vector<std::vector<Use>> uses;  // by instruction: all that it reads: sources, address bases, vector
                                         // elements, the guard, states

    // The value that `instruction` reads as source `operand` (index in Instruction::operands), or no_index if
    // that is no register.
    [[nodiscard]] ValueIndex use(std::uint32_t instruction, std::uint16_t operand,
                                 std::uint16_t element = 0) const;
    [[nodiscard]] ValueIndex guard(std::uint32_t instruction) const;
    // The value that `instruction` writes by destination `operand`, or no_index.
    [[nodiscard]] ValueIndex definition(std::uint32_t instruction, std::uint16_t operand = 0,
                                        std::uint16_t element = 0) const;
};

[[nodiscard]] Ssa build_ssa(const Function& function, const ControlFlow& flow);

}  // namespace trimtab::ptx
