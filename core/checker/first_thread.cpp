// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/checker/first_thread.h"

namespace trimtab::checker {

using ptx::no_index;
using ptx::Opcode;
using ptx::ValueIndex;

namespace {

// The index itself, either way round; or it and others, where none has a bit set.
bool is_zero_where_first(const Reading& reading, const Form& form, std::size_t d) {
    using enum ptx::SpecialRegister;
    const auto of = [&](ptx::SpecialRegister first) {
        return *reading.special(static_cast<ptx::SpecialRegister>(static_cast<unsigned>(first) + d),
                                form.width);
    };
    const Form index = reading.certificate().dimensions[d].scheme == Scheme::in_block
                           ? of(tid_x)
                           : sum(of(tid_x), product(of(ctaid_x), of(ntid_x)));
    if (form == index || form == sum(number(0, form.width), index, ~std::uint64_t{0})) return true;
    if (form.terms.size() != 1 || form.terms.begin()->first.size() != 1) return false;
    const Atom only = form.terms.begin()->first[0];
    if (only < first_value || only >= first_value + reading.ssa().values.size()) return false;
    const ptx::Value& value = reading.ssa().values[only - first_value];
    if (value.kind != ptx::Value::Kind::instruction || value.previous != no_index ||
        reading.function().body[value.instruction].opcode != Opcode::or_)
        return false;
    for (const std::size_t operand : {1U, 2U})
        if (const Form each = reading.operand(value.instruction, operand, form.width);
            each.width != 0 && is_zero_where_first(reading, each, d))
            return true;
    return false;
}

// Is the index 0 where the value is (`is_true`), or is not?
bool makes_first(const Reading& reading, ValueIndex index, bool is_true, std::size_t d) {
    if (index == no_index) return false;
    const ptx::Value& value = reading.ssa().values[index];
    if (value.kind != ptx::Value::Kind::instruction || value.previous != no_index) return false;
    const std::uint32_t i = value.instruction;
    const ptx::Instruction& made = reading.function().body[i];
    const auto part = [&](std::uint16_t operand, bool truth) {
        const ValueIndex of = reading.ssa().use(i, operand);
        return of != no_index && makes_first(reading, of, truth != made.operands[operand].negated, d);
    };
    switch (made.opcode) {
        case Opcode::mov:
            return part(1, is_true);
        case Opcode::not_:
            return part(1, !is_true);
        case Opcode::and_:
            return is_true && (part(1, true) || part(2, true));
        case Opcode::or_:
            return !is_true && (part(1, false) || part(2, false));
        case Opcode::setp: {
            const bool asks =
                made.modifiers.comparison == (is_true ? ptx::Comparison::eq : ptx::Comparison::ne);
            const unsigned width = 8 * ptx::size_bytes(made.type);
            if (made.destination_count != 1 || made.operands.size() != 3 || !asks || width < 32) return false;
            const Form a = reading.operand(i, 1, width), b = reading.operand(i, 2, width);
            return a.width != 0 && b.width != 0 &&
                   is_zero_where_first(reading, sum(a, b, ~std::uint64_t{0}), d);
        }
        default:
            return false;
    }
}

}  // namespace

bool goes_first(const Reading& reading, const FirstThread& first) {
    const ptx::BasicBlock& block = reading.flow().blocks[first.branch];
    if (block.first == block.last) return false;
    const bool is_true = first.if_taken != reading.function().body[block.last - 1].guard_negated;
    return makes_first(reading, reading.ssa().guard(block.last - 1), is_true, first.dimension);
}

}  // namespace trimtab::checker
