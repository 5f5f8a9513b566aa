// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of random blocks and branches over a few registers, for property tests.
#pragma once

#include <random>

#include "core/ptx/module.h"

namespace trimtab::ptx {

// `blocks` basic blocks, each ending in a branch, a guarded branch, a return or nothing; before that up to
// three instructions that read and write `registers` registers, and the carry flag, some of them guarded.
// Register 0 is the predicate.
inline Function random_function(std::mt19937& random, unsigned blocks, unsigned registers) {
    const auto pick = [&](unsigned count) {
        return std::uniform_int_distribution<unsigned>(0, count - 1)(random);
    };
    const auto reg = [&] {
        Operand out;
        out.kind = Operand::Kind::reg;
        out.reg = 1 + pick(registers);
        return out;
    };
    Function out;
    out.name = "random";
    out.registers.push_back({"%p", Type::pred});
    for (unsigned i = 0; i < registers; ++i) out.registers.push_back({"%r" + std::to_string(i), Type::b32});
    std::vector<std::uint32_t> starts;
    for (unsigned b = 0; b < blocks; ++b) {
        starts.push_back(static_cast<std::uint32_t>(out.body.size()));
        for (unsigned n = 1 + pick(3); n > 0; --n) {
            Instruction add;
            add.opcode = pick(5) == 0 ? Opcode::addc : Opcode::add;
            add.modifiers.carry_out = pick(3) == 0;
            add.operands = {reg(), reg(), reg()};
            add.destination_count = 1;
            if (pick(4) == 0) add.guard = 0;
            out.body.push_back(std::move(add));
        }
        Instruction end;
        const unsigned kind = pick(6);
        if (kind == 0) continue;  // falls through
        end.opcode = kind == 1 ? Opcode::ret : Opcode::bra;
        if (kind == 1 && pick(2) == 0) end.guard = 0;
        if (kind > 1) {
            if (kind > 2) end.guard = 0;
            Operand target;
            target.kind = Operand::Kind::label;
            // Not the first block: the entry has no predecessors in most programs, and has its own test.
            target.target = 1 + pick(blocks - 1);
            end.operands.push_back(target);
        }
        out.body.push_back(std::move(end));
    }
    for (Instruction& i : out.body) {
        for (Operand& operand : i.operands) {
            if (operand.kind == Operand::Kind::label) operand.target = starts[operand.target];
        }
    }
    return out;
}

}  // namespace trimtab::ptx
