// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each instruction's results are worth.
#include <algorithm>

#include "core/analysis/values/function_values.h"
#include "core/analysis/values/integer_operations.h"

namespace trimtab::analysis {
namespace {

using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::Value;
using ptx::ValueIndex;

}  // namespace

void FunctionValues::evaluate_instruction(std::uint32_t instruction) {
    const auto& defined = definitions_[instruction];
    // What writes no register, and call results in parameter space, only uses its operands.
    if (defined.empty()) {
        operands_are_clean(instruction);
        return;
    }
    for (const ValueIndex index : defined) define(instruction, index);
}

void FunctionValues::define(std::uint32_t instruction, ValueIndex index) {
    const Value& value = ssa_.values[index];
    const unsigned width = register_width(value.reg);
    evaluated_[index] = true;
    Symbolic result;
    if (const auto known = exact(instruction, value); known && known->terms.size() <= max_terms) {
        result = fit(*known, width, is_signed_type(function_->body[instruction].type));
    } else {
        result = unknown(index, operands_are_clean(instruction) ? Atom::Kind::opaque : Atom::Kind::tainted);
    }
    if (value.previous != no_index) {
        const Symbolic predicate = guard(instruction);
        if (predicate.width != 1 || !table_->is_clean(predicate))
            result = unknown(index, Atom::Kind::tainted);
        else
            result = merge(predicate, result, values_[value.previous], index);
    }
    values_[index] = std::move(result);
}

// predicate ? a : b, where both share what is not clean.
Symbolic FunctionValues::merge(const Symbolic& predicate, const Symbolic& a, const Symbolic& b,
                               ValueIndex index) {
    if (a == b) return a;
    if (predicate.is_constant()) return predicate.constant() != 0 ? a : b;
    const Symbolic shared = table_->unclean_part(a);
    if (table_->unclean_part(b) != shared) return unknown(index, Atom::Kind::tainted);
    if (a.width != b.width || (a.width & (a.width - 1)) != 0 || a.width > 64)
        return unknown(index, Atom::Kind::opaque);
    const Symbolic left = table_->subtract(a, shared), right = table_->subtract(b, shared);
    if (a.width == 1)
        return table_->logical(Operator::or_, table_->logical(Operator::and_, predicate, left),
                               table_->logical(Operator::and_, table_->negate(predicate), right));
    const auto bits = bits_type(a.width);
    if (!bits) return unknown(index, Atom::Kind::opaque);
    return table_->add(table_->apply(*operation_of(Operator::selp, *bits), {left, right, predicate}), shared);
}

Symbolic FunctionValues::fit(const Symbolic& value, unsigned width, bool is_signed) const {
    if (value.width == width || value.width == 1) return value;
    if (value.width > width) return table_->truncate(value, width);
    const auto from = integer_type(is_signed, value.width), to = integer_type(is_signed, width);
    const auto operation = from && to ? conversion(*to, *from) : std::nullopt;
    if (!operation) return value;
    if (const auto wide = table_->polynomial(*operation, {value})) return *wide;
    return table_->is_clean(value) ? table_->apply(*operation, {value}) : Symbolic{};
}

// An argument; or one of two, where compilers pick the address to load from: i < (last ? m : n).
std::optional<Symbolic> FunctionValues::loaded_parameter(std::uint32_t instruction, const Value& value) {
    const ptx::Instruction& made = function_->body[instruction];
    const unsigned size = ptx::size_bytes(made.type), width = register_width(value.reg);
    if (size * 8 > width || width > 64) return std::nullopt;
    const auto argument_at = [&](const Symbolic& place) -> std::optional<Symbolic> {
        const auto bytes = parameter_at(made, place);
        if (!bytes) return std::nullopt;
        Atom atom;
        atom.kind = Atom::Kind::parameter;
        atom.width = size * 8;
        atom.parameter = bytes->parameter;
        atom.offset = bytes->offset + size * value.element;
        return table_->of(atom);
    };
    const Symbolic place = address(instruction);
    if (auto argument = argument_at(place)) return argument;
    for (const Term& term : place.terms) {
        if (term.atoms.size() != 1 || term.coefficient != 1) continue;
        const Symbolic picked{place.width, {term}};
        const Atom* choice = table_->as_operation(picked);
        if (choice == nullptr || choice->operation.op != Operator::selp) continue;
        const Symbolic offset = table_->subtract(place, picked);
        const auto left = argument_at(table_->add(choice->operands[0], offset)),
                   right = argument_at(table_->add(choice->operands[1], offset));
        const auto bits = bits_type(size * 8);
        if (!left || !right || !bits) return std::nullopt;
        return table_->apply(*operation_of(Operator::selp, *bits), {*left, *right, choice->operands[2]});
    }
    return std::nullopt;
}

// The value that an instruction writes, where it can be told without taking it for opaque.
std::optional<Symbolic> FunctionValues::exact(std::uint32_t instruction, const Value& value) {
    const ptx::Instruction& made = function_->body[instruction];
    if (value.reg >= function_->registers.size()) return std::nullopt;  // a state
    if (made.opcode == Opcode::mov || made.opcode == Opcode::cvta) return moved(instruction, value);
    if (made.opcode == Opcode::ld) {
        return loaded_parameter(instruction, value);
    }
    if (made.opcode == Opcode::setp) return compared(instruction, value);
    if (made.opcode == Opcode::bfe) return extracted(instruction);
    const auto operation = integer_operation(made);
    if (!operation || made.sources().size() != operation->arity || made.destination_count != 1)
        return std::nullopt;
    std::vector<Symbolic> operands;
    for (unsigned i = 0; i < operation->arity; i++) {
        const std::size_t at = made.destination_count + i;
        Symbolic part =
            operand_value(made.operands[at], ssa_.use(instruction, static_cast<std::uint16_t>(at)),
                          width_bits(operation->operand_type(i)));
        if (part.width == 0) return std::nullopt;
        operands.push_back(std::move(part));
    }
    if (operation->op == Operator::selp) {
        // Which side is taken may differ between threads, not what both sides share.
        if (!table_->is_clean(operands[2])) return std::nullopt;
        const unsigned width = width_bits(operation->result);
        if (operands[0].width != width || operands[1].width != width) return std::nullopt;
        const Symbolic shared = table_->unclean_part(operands[0]);
        if (table_->unclean_part(operands[1]) != shared) return std::nullopt;
        const Symbolic left = table_->subtract(operands[0], shared),
                       right = table_->subtract(operands[1], shared);
        return table_->add(table_->apply(*operation, {left, right, operands[2]}), shared);
    }
    return operated(*operation, std::move(operands));
}

// Bits of a number without sign, as (tid.x >> 5) & 0xffff is written.
std::optional<Symbolic> FunctionValues::extracted(std::uint32_t instruction) {
    const ptx::Instruction& made = function_->body[instruction];
    const unsigned width = width_bits(made.type);
    if (is_signed_type(made.type) || (width != 32 && width != 64) || made.operands.size() != 4 ||
        made.destination_count != 1)
        return std::nullopt;
    std::array<std::uint64_t, 2> field{};  // where it begins, and how long it is
    for (std::uint16_t i = 0; i < 2; i++) {
        const auto at = static_cast<std::uint16_t>(2 + i);
        const Symbolic known = operand_value(made.operands[at], ssa_.use(instruction, at), 32);
        if (known.width != 32 || !known.is_constant()) return std::nullopt;
        field[i] = known.constant() & 0xff;
    }
    const Symbolic whole = operand_value(made.operands[1], ssa_.use(instruction, 1), width);
    if (whole.width != width || field[1] == 0 || field[0] + field[1] > width || field[1] >= width)
        return std::nullopt;
    const auto shift = operation_of(Operator::shr, width == 32 ? ptx::Type::u32 : ptx::Type::u64),
               keep = operation_of(Operator::and_, *bits_type(width));
    auto shifted = operated(*shift, {whole, SymbolTable::constant(field[0], 32)});
    if (!shifted) return std::nullopt;
    return operated(*keep,
                    {std::move(*shifted), SymbolTable::constant((std::uint64_t{1} << field[1]) - 1, width)});
}

std::optional<Symbolic> FunctionValues::operated(const Operation& operation, std::vector<Symbolic> operands) {
    bool clean = true;
    for (unsigned i = 0; i < operation.arity; i++) {
        const unsigned width = width_bits(operation.operand_type(i));
        // cvt may read the low part of a wider register.
        if (operands[i].width > width) operands[i] = table_->truncate(operands[i], width);
        if (operands[i].width != width) return std::nullopt;
        clean &= table_->is_clean(operands[i]);
    }
    if (clean) return table_->apply(operation, operands);
    return table_->polynomial(operation, operands);
}

std::optional<Symbolic> FunctionValues::moved(std::uint32_t instruction, const Value& value) {
    const ptx::Instruction& made = function_->body[instruction];
    if (made.sources().size() != 1 || made.destination_count != 1) return std::nullopt;
    const Operand &to = made.operands[0], &from = made.operands[1];
    const unsigned width = register_width(value.reg);
    if (made.opcode == Opcode::cvta) {
        // Generic and global addresses of one place are one number; kernel parameters are followed by name.
        const ptx::Space space = made.modifiers.space;
        if (space != ptx::Space::global && space != ptx::Space::param) return std::nullopt;
    }
    if (to.kind == Operand::Kind::vector) {
        // {low, high} = wide: the low part is a truncation; of a parameter, each part is one of its own.
        if (from.kind != Operand::Kind::reg) return std::nullopt;
        const Symbolic wide = operand(instruction, 1);
        if (wide.width != width * to.elements.size() || wide.width > 64) return std::nullopt;
        if (value.element == 0) return table_->truncate(wide, width);
        const auto whole = wide.single_atom();
        if (!whole || table_->atom(*whole).kind != Atom::Kind::parameter) return std::nullopt;
        Atom part = table_->atom(*whole);
        part.width = width;
        part.offset += value.element * width / 8;
        return table_->of(part);
    }
    if (from.kind == Operand::Kind::vector) {
        // wide = {low, 0}: an extension.
        for (std::size_t i = 1; i < from.elements.size(); i++) {
            const Symbolic part = operand(instruction, 1, i);
            if (part.width == 0 || !part.is_constant() || part.constant() != 0) return std::nullopt;
        }
        const Symbolic low = operand(instruction, 1, 0);
        if (from.elements.empty() || low.width * from.elements.size() != width || width > 64)
            return std::nullopt;
        const Symbolic extended = fit(low, width, false);
        return extended.width == width ? std::optional(extended) : std::nullopt;
    }
    Symbolic source = operand_value(from, ssa_.use(instruction, 1), width);
    if (source.width == 0 || (source.width != width && from.kind != Operand::Kind::symbol))
        return std::nullopt;
    return source;
}

// setp p|q, a, b, c: p = (a < b) op c, q = !(a < b) op c.
std::optional<Symbolic> FunctionValues::compared(std::uint32_t instruction, const Value& value) {
    const ptx::Instruction& made = function_->body[instruction];
    const auto operation = integer_operation(made);
    const std::size_t first = made.destination_count;
    if (!operation || made.operands.size() < first + 2) return std::nullopt;
    std::vector<Symbolic> operands;
    for (unsigned i = 0; i < 2; i++) {
        Symbolic part = operand_value(made.operands[first + i],
                                      ssa_.use(instruction, static_cast<std::uint16_t>(first + i)),
                                      width_bits(operation->type));
        if (part.width != width_bits(operation->type)) return std::nullopt;
        operands.push_back(std::move(part));
    }
    if (!table_->is_clean(operands[0]) || !table_->is_clean(operands[1])) {
        // g == 0 is compiled to ctaid * ntid == -tid: equality is that of the difference.
        const Symbolic difference = table_->subtract(operands[0], operands[1]);
        const bool is_equality =
            operation->comparison == ptx::Comparison::eq || operation->comparison == ptx::Comparison::ne;
        if (!is_equality || !table_->is_clean(difference)) return std::nullopt;
        operands = {difference, SymbolTable::constant(0, difference.width)};
    }
    Symbolic result = table_->apply(*operation, operands);
    if (value.operand == 1) result = table_->negate(result);
    if (made.modifiers.boolean_op == ptx::BooleanOp::none) return result;
    if (made.operands.size() != first + 3) return std::nullopt;
    const Symbolic other = operand_value(made.operands[first + 2],
                                         ssa_.use(instruction, static_cast<std::uint16_t>(first + 2)), 1);
    if (other.width != 1 || !table_->is_clean(other)) return std::nullopt;
    switch (made.modifiers.boolean_op) {
        case ptx::BooleanOp::and_:
            return table_->logical(Operator::and_, result, other);
        case ptx::BooleanOp::or_:
            return table_->logical(Operator::or_, result, other);
        case ptx::BooleanOp::xor_:
            return table_->logical(Operator::xor_, result, other);
        default:
            return std::nullopt;
    }
}

}  // namespace trimtab::analysis
