// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/exchange_values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/analysis/sharing/strided_accesses.h"
#include "core/analysis/values/instruction_rules.h"
#include "core/analysis/values/integer_operations.h"

namespace trimtab::analysis {

using ptx::BlockIndex;
using ptx::no_index;
using ptx::Opcode;
using ptx::Operand;
using ptx::ValueIndex;

namespace {

constexpr Token unset = 0xffffffff;

}  // namespace

ExchangeValues::ExchangeValues(const ExchangeContext& context, const ExchangePiece& piece, unsigned threads)
    : c_(context),
      function_(context.kernel.function()),
      flow_(context.kernel.flow()),
      ssa_(context.kernel.ssa()),
      tokens_(context.tokens),
      piece_(piece),
      threads_(threads),
      values_(std::size_t{threads} * ssa_.values.size(), unset) {
    tokens_.set_threads(threads);
}

bool ExchangeValues::is_inside(ValueIndex index) const {
    const ptx::Value& value = ssa_.values[index];
    if (value.kind == ptx::Value::Kind::phi) return value.block != piece_.from && piece_.blocks[value.block];
    return value.kind == ptx::Value::Kind::instruction && piece_.blocks[flow_.block_of[value.instruction]];
}

Token ExchangeValues::value(ValueIndex index, unsigned t) {
    if (index == no_index) return Tokens::unknown;
    Token& known = values_[t * value_count() + index];
    if (known == unset && is_inside(index)) return Tokens::unknown;
    if (known == unset) known = from_outside(index, t);
    return known;
}

Token ExchangeValues::from_outside(ValueIndex index, unsigned t) {
    if (const auto bits = number(c_.kernel.value(index), t)) return tokens_.number(*bits);
    const Label label = c_.labels.at(index, piece_.from);
    if (label.is_same()) return tokens_.same_for_all(index, label.is_rounded());
    if (c_.any_part) return part(index, t).value_or(Tokens::unknown);
    auto at = c_.sums.find(index);
    if (at == c_.sums.end())
        at = c_.sums.emplace(index, sum_of_iterations(c_.kernel, c_.labels, c_.parts, index)).first;
    if (!at->second) return Tokens::unknown;
    // How many are above a mean, say: that jumps where the mean is rounded otherwise.
    if (label.is_rounded() && at->second->float_type == ptx::Type::none) return Tokens::unknown;
    return tokens_.own_part(index, t, at->second->is_rounded() || label.is_rounded());
}

std::optional<Token> ExchangeValues::part(ValueIndex index, unsigned t) {
    if (!c_.any_part || c_.kernel.value(index).width != c_.any_part->width) return std::nullopt;
    c_.sums.try_emplace(index, c_.any_part);
    return tokens_.own_part(index, t, c_.any_part->is_rounded());
}

std::optional<std::uint64_t> ExchangeValues::number(const Symbolic& value, unsigned t) const {
    if (value.width == 0 || !c_.table.is_small(value)) return std::nullopt;
    std::uint64_t sum = 0;
    for (const Term& term : value.terms) {
        std::uint64_t product = term.coefficient;
        for (const AtomIndex index : term.atoms) {
            const auto factor = number(c_.table.atom(index), t);
            if (!factor) return std::nullopt;
            product *= *factor;
        }
        sum += product;
    }
    return truncate_bits(sum, value.width);
}

std::optional<std::uint64_t> ExchangeValues::number(const Atom& atom, unsigned t) const {
    switch (atom.kind) {
        case Atom::Kind::global_index:
            return atom.dimension == Dimension::x ? std::optional<std::uint64_t>(t) : std::nullopt;
        case Atom::Kind::total:
            return atom.dimension == Dimension::x ? std::optional<std::uint64_t>(threads_) : std::nullopt;
        case Atom::Kind::symbol:
            return exchange_address(c_.variables, shared_variable(function_, c_.module, atom.text));
        case Atom::Kind::operation: {
            std::vector<std::uint64_t> operands;
            for (const Symbolic& part : atom.operands) {
                const auto bits = number(part, t);
                if (!bits) return std::nullopt;
                operands.push_back(*bits);
            }
            return analysis::apply(atom.operation, operands);
        }
        default:
            return std::nullopt;
    }
}

std::optional<bool> ExchangeValues::condition(std::uint32_t i, unsigned t) {
    const ptx::Instruction& made = function_.body[i];
    if (made.guard == no_index) return true;
    const auto bits = tokens_.as_number(value(ssa_.guard(i), t));
    if (!bits) return std::nullopt;
    return (*bits != 0) != made.guard_negated;
}

Token ExchangeValues::operand(std::uint32_t i, std::size_t o, unsigned width, unsigned t) {
    const Operand& read = function_.body[i].operands[o];
    switch (read.kind) {
        case Operand::Kind::reg: {
            Token token = value(ssa_.use(i, static_cast<std::uint16_t>(o)), t);
            if (!read.text.empty()) return Tokens::unknown;  // a part of the register
            const auto bits = tokens_.as_number(token);
            if (read.negated) return bits ? tokens_.number(*bits == 0) : Tokens::unknown;
            return bits && width != 0 ? tokens_.number(truncate_bits(*bits, width)) : token;
        }
        case Operand::Kind::immediate:
            return tokens_.number(width == 0 ? read.bits : truncate_bits(read.bits, width));
        case Operand::Kind::special:
        case Operand::Kind::symbol: {
            const auto bits = number(c_.kernel.operand(i, o), t);
            return bits ? tokens_.number(width == 0 ? *bits : truncate_bits(*bits, width)) : Tokens::unknown;
        }
        default:
            return Tokens::unknown;
    }
}

void ExchangeValues::skip(std::uint32_t i, unsigned t, bool is_known) {
    for_each_result(i, [&](ValueIndex result) {
        set(result, t, is_known ? value(ssa_.values[result].previous, t) : Tokens::unknown);
    });
}

// What it reads is all in its operands.
bool ExchangeValues::has_no_state(std::uint32_t i) const {
    return !function_.body[i].modifiers.carry_out &&
           std::ranges::all_of(ssa_.uses[i], [&](const ptx::Ssa::Use& use) {
               return use.reg == no_index || use.reg < function_.registers.size();
           });
}

void ExchangeValues::compute(std::uint32_t i, unsigned t) {
    const ptx::Instruction& made = function_.body[i];
    const ValueIndex result = ssa_.definition(i);
    Token token = Tokens::unknown;
    if (result != no_index && made.destination_count == 1 && made.operands[0].elements.empty())
        token = computed(i, result, t);
    for_each_result(i, [&](ValueIndex each) { set(each, t, each == result ? token : Tokens::unknown); });
}

Token ExchangeValues::computed(std::uint32_t i, ValueIndex result, unsigned t) {
    const ptx::Instruction& made = function_.body[i];
    if (made.opcode == Opcode::mov && made.operands.size() == 2 && made.operands[1].elements.empty()) {
        const Token moved = operand(i, 1, 0, t);
        if (moved != Tokens::unknown) return moved;
    }
    if (made.opcode == Opcode::selp && made.operands.size() == 4) {
        const auto chosen = tokens_.as_number(operand(i, 3, 1, t));
        if (!chosen) return Tokens::unknown;
        return operand(i, *chosen != 0 ? 1 : 2, 8 * ptx::size_bytes(made.type), t);
    }
    if (const auto bits = calculated(i, t)) return tokens_.number(*bits);
    if (ptx::is_pure(made.opcode) && has_no_state(i)) {
        std::vector<Token> operands;
        for (std::size_t o = 1; o < made.operands.size(); o++) operands.push_back(operand(i, o, 0, t));
        if (operands.size() == 2) {
            for (const Token token : operands) {
                const Tokens::Sum* sum = tokens_.as_sum(token);
                if (sum == nullptr || !does(made, *c_.sums.at(sum->of))) continue;
                if (const auto joined = tokens_.joined(*c_.sums.at(sum->of), operands[0], operands[1]))
                    return *joined;
            }
        }
        if (const auto same = chosen_of_equals(i, operands)) return *same;
        if (const auto zero = sum_of_zeros(i, operands)) return *zero;
        if (const Token token = tokens_.made(i, 0, operands); token != Tokens::unknown) return token;
    }
    // The same for all threads, and made once in each run of the piece.
    const BlockIndex block = flow_.block_of[i];
    if (is_in_inner_loop(block)) return Tokens::unknown;
    const Label label = c_.labels.at(result, block);
    if (label.is_same()) return tokens_.same_for_all(result, label.is_rounded());
    return part(result, t).value_or(Tokens::unknown);
}

// The smaller or larger of a floating-point number and itself, of numbers that come out as they are: infinities and
// zeros, which idle lanes hold, too. NaNs become another one, and what is denormal may become 0.
std::optional<Token> ExchangeValues::chosen_of_equals(std::uint32_t i,
                                                      const std::vector<Token>& operands) const {
    const ptx::Instruction& made = function_.body[i];
    if ((made.opcode != Opcode::min && made.opcode != Opcode::max) || made.modifiers.xorsign_abs ||
        made.operands[1].negated || made.operands[2].negated || operands.size() != 2 ||
        operands[0] != operands[1])
        return std::nullopt;
    const auto bits = tokens_.as_number(operands[0]);
    const auto stays = [](auto value) {
        return std::isnormal(value) || std::isinf(value) || std::fpclassify(value) == FP_ZERO;
    };
    if (!bits) return std::nullopt;
    if (made.type == ptx::Type::f32 ? !stays(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)))
                                    : made.type != ptx::Type::f64 || !stays(std::bit_cast<double>(*bits)))
        return std::nullopt;
    return operands[0];
}

// Floating-point zeros that are added up, as lanes do that have no part of a sum.
std::optional<Token> ExchangeValues::sum_of_zeros(std::uint32_t i, const std::vector<Token>& operands) {
    const ptx::Instruction& made = function_.body[i];
    if (made.opcode != Opcode::add || (made.type != ptx::Type::f32 && made.type != ptx::Type::f64) ||
        operands.size() != 2 || tokens_.as_number(operands[0]) != 0 || tokens_.as_number(operands[1]) != 0)
        return std::nullopt;
    return tokens_.number(0);
}

bool ExchangeValues::is_in_inner_loop(BlockIndex block) const {
    const std::uint32_t l = flow_.innermost_loop[block];
    return l != no_index && !flow_.loops[l].contains(piece_.from);
}

std::optional<std::uint64_t> ExchangeValues::calculated(std::uint32_t i, unsigned t) {
    const ptx::Instruction& made = function_.body[i];
    const auto operation = integer_operation(made);
    const std::size_t sources = made.operands.size() - made.destination_count;
    if (!operation || sources < operation->arity) return std::nullopt;
    std::vector<std::uint64_t> operands;
    for (unsigned o = 0; o < operation->arity; o++) {
        const auto bits = tokens_.as_number(
            operand(i, made.destination_count + o, width_bits(operation->operand_type(o)), t));
        if (!bits) return std::nullopt;
        operands.push_back(*bits);
    }
    std::uint64_t result = analysis::apply(*operation, operands);
    if (made.modifiers.boolean_op == ptx::BooleanOp::none)
        return sources == operation->arity ? std::optional(result) : std::nullopt;
    const auto other = tokens_.as_number(operand(i, made.operands.size() - 1, 1, t));
    if (!other || sources != operation->arity + 1u) return std::nullopt;
    switch (made.modifiers.boolean_op) {
        case ptx::BooleanOp::and_:
            return result & *other;
        case ptx::BooleanOp::or_:
            return result | *other;
        case ptx::BooleanOp::xor_:
            return result ^ *other;
        default:
            return std::nullopt;
    }
}

void ExchangeValues::write_outcome(std::map<ValueIndex, Token>& by_all,
                                   std::map<ValueIndex, Token>& by_first) const {
    for (ValueIndex v = 0; v < value_count(); v++) {
        if (!is_inside(v)) continue;
        if (values_[v] != unset) by_first[v] = values_[v];
        for (unsigned t = 0; t < threads_; t++) {
            const Token token = values_[t * value_count() + v];
            if (token == unset) continue;
            const auto [at, is_new] = by_all.emplace(v, token);
            if (at->second != token) at->second = Tokens::unknown;
        }
    }
}

std::optional<std::uint64_t> exchange_address(const std::set<const ptx::Variable*>& variables,
                                              const ptx::Variable* variable) {
    const auto at = variables.find(variable);
    if (variable == nullptr || at == variables.end()) return std::nullopt;
    return exchange_variable_bytes * (1 + static_cast<std::uint64_t>(std::distance(variables.begin(), at)));
}

}  // namespace trimtab::analysis
