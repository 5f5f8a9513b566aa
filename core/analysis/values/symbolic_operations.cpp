// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on polynomials: what stays one, what folds, and what becomes an atom.
#include <algorithm>
#include <array>
#include <bit>

#include "core/analysis/values/symbolic.h"

namespace trimtab::analysis {
namespace {

using Kind = Atom::Kind;

constexpr std::size_t max_small_atoms = 400;

// Is every value of `a` a multiple of a power of two above `bits`?
bool has_low_zeros(const Symbolic& a, std::uint64_t bits) {
    return std::ranges::all_of(a.terms, [bits](const Term& term) {
        const std::uint64_t lowest = term.coefficient & (std::uint64_t{0} - term.coefficient);
        return lowest > bits;
    });
}

}  // namespace

Symbolic SymbolTable::operation_atom(const Operation& operation, const std::vector<Symbolic>& operands) {
    Atom atom;
    atom.kind = Kind::operation;
    atom.width = width_bits(operation.result);
    atom.operation = operation;
    atom.operands = operands;
    return of(atom);
}

std::optional<Symbolic> SymbolTable::polynomial(const Operation& operation,
                                                const std::vector<Symbolic>& operands) {
    const unsigned width = width_bits(operation.result);
    const bool is_signed = is_signed_type(operation.type);
    if (operation.type == ptx::Type::pred) return std::nullopt;
    switch (operation.op) {
        case Operator::add:
            return add(operands[0], operands[1]);
        case Operator::sub:
            return subtract(operands[0], operands[1]);
        case Operator::mul_lo:
            return multiply(operands[0], operands[1]);
        case Operator::mad_lo: {
            const auto product = multiply(operands[0], operands[1]);
            if (!product) return std::nullopt;
            return add(*product, operands[2]);
        }
        case Operator::mul_wide:
        case Operator::mad_wide: {
            std::array<Symbolic, 2> wide;
            for (std::size_t i = 0; i < 2; i++) {
                auto widened = widen(operands[i], is_signed, width);
                if (!widened) {
                    if (!is_clean(operands[i])) return std::nullopt;
                    widened = operation_atom(*conversion(operation.result, operation.type), {operands[i]});
                }
                wide[i] = std::move(*widened);
            }
            const auto product = multiply(wide[0], wide[1]);
            if (!product) return std::nullopt;
            return operation.op == Operator::mad_wide ? add(*product, operands[2]) : *product;
        }
        case Operator::neg:
            return scaled(operands[0], ~std::uint64_t{0});
        case Operator::not_:
            return subtract(constant(~std::uint64_t{0}, width), operands[0]);
        case Operator::or_:
            // Where no bit is in both, as in 4 * i | 1, it is a sum.
            for (std::size_t i = 0; i < 2; i++)
                if (operands[i].is_constant() && has_low_zeros(operands[1 - i], operands[i].constant()))
                    return add(operands[0], operands[1]);
            for (std::size_t i = 0; i < 2; i++)
                if (auto whole = joined_parameter(operands[i], operands[1 - i])) return whole;
            return std::nullopt;
        case Operator::and_:
            for (std::size_t i = 0; i < 2; i++)
                if (operands[i].is_constant())
                    if (auto part = masked(operands[1 - i], operands[i].constant())) return part;
            return std::nullopt;
        case Operator::shr:
            if (!operands[1].is_constant()) return std::nullopt;
            return quotient(operands[0],
                            static_cast<unsigned>(std::min<std::uint64_t>(operands[1].constant(), 64)),
                            is_signed);
        case Operator::div:
        case Operator::rem: {
            // By a power of two, of what is not negative.
            const std::uint64_t by = operands[1].is_constant() ? operands[1].constant() : 0;
            const Range not_negative{0, (static_cast<__int128>(1) << (width - 1)) - 1};
            if (!std::has_single_bit(by) || (is_signed && !lies_in(operands[0], not_negative)))
                return std::nullopt;
            if (operation.op == Operator::rem) return masked(operands[0], by - 1);
            return quotient(operands[0], static_cast<unsigned>(std::countr_zero(by)), is_signed);
        }
        case Operator::xor_:
            for (std::size_t i = 0; i < 2; i++)
                if (operands[i].is_constant() &&
                    operands[i].constant() == truncate_bits(~std::uint64_t{0}, width))
                    return subtract(operands[i], operands[1 - i]);
            return std::nullopt;
        case Operator::shl:
            if (!operands[1].is_constant()) return std::nullopt;
            if (operands[1].constant() >= width) return constant(0, width);
            return scaled(operands[0], std::uint64_t{1} << operands[1].constant());
        case Operator::cvt:
            if (width <= operands[0].width) return truncate(operands[0], width);
            return widen(operands[0], is_signed_type(operation.source), width);
        case Operator::selp:
            if (operands[0] == operands[1]) return operands[0];
            if (operands[2].is_constant()) return operands[operands[2].constant() != 0 ? 0 : 1];
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

// (bytes 4 to 7 of an argument) << 32 | (its bytes 0 to 3), as structs are copied: the argument's bytes 0
// to 7.
std::optional<Symbolic> SymbolTable::joined_parameter(const Symbolic& high, const Symbolic& low) {
    const auto extended = [&](const Symbolic& part, std::uint64_t coefficient) -> const Atom* {
        if (part.terms.size() != 1 || part.terms[0].atoms.size() != 1 ||
            part.terms[0].coefficient != coefficient)
            return nullptr;
        const Atom& wide = atom(part.terms[0].atoms[0]);
        if (wide.kind != Kind::operation || wide.operation.op != Operator::cvt ||
            is_signed_type(wide.operation.source))
            return nullptr;
        const auto inner = wide.operands[0].single_atom();
        return inner && atom(*inner).kind == Kind::parameter ? &atom(*inner) : nullptr;
    };
    const Atom* first = extended(low, 1);
    if (first == nullptr || first->width * 2 != low.width) return std::nullopt;
    const Atom* second = extended(high, std::uint64_t{1} << first->width);
    if (second == nullptr || second->width != first->width || second->parameter != first->parameter ||
        second->offset != first->offset + first->width / 8)
        return std::nullopt;
    Atom whole = *first;
    whole.width *= 2;
    return of(whole);
}

Symbolic SymbolTable::negate(const Symbolic& predicate) {
    return apply(*operation_of(Operator::not_, ptx::Type::pred), {predicate});
}

Symbolic SymbolTable::logical(Operator op, const Symbolic& a, const Symbolic& b) {
    return apply(*operation_of(op, ptx::Type::pred), {a, b});
}

namespace {

ptx::Comparison inverse(ptx::Comparison comparison) {
    switch (comparison) {
        case ptx::Comparison::eq:
            return ptx::Comparison::ne;
        case ptx::Comparison::ne:
            return ptx::Comparison::eq;
        case ptx::Comparison::lt:
            return ptx::Comparison::ge;
        case ptx::Comparison::ge:
            return ptx::Comparison::lt;
        case ptx::Comparison::gt:
            return ptx::Comparison::le;
        default:
            return ptx::Comparison::gt;
    }
}

// One spelling where the sign does not matter, so that equal values are equal.
Operation canonical(Operation operation) {
    const bool sign_matters =
        !(operation.op == Operator::and_ || operation.op == Operator::or_ || operation.op == Operator::xor_ ||
          operation.op == Operator::selp ||
          (operation.op == Operator::setp &&
           (operation.comparison == ptx::Comparison::eq || operation.comparison == ptx::Comparison::ne)));
    if (sign_matters || operation.type == ptx::Type::pred) return operation;
    const auto bits = bits_type(width_bits(operation.type));
    if (operation.result == operation.type) operation.result = *bits;
    operation.type = *bits;
    return operation;
}

}  // namespace

const Atom* SymbolTable::as_constant_choice(const Symbolic& a) const {
    const Atom* made = as_operation(a);
    const bool is_one = made != nullptr && made->operation.op == Operator::selp &&
                        made->operands[0].is_constant() && made->operands[1].is_constant();
    return is_one ? made : nullptr;
}

// (p ? 1 : 0) != 0, as compilers carry predicates in integer registers.
std::optional<Symbolic> SymbolTable::comparison(const Operation& operation,
                                                const std::vector<Symbolic>& operands) {
    for (std::size_t side = 0; side < 2; side++) {
        const Atom* inner = as_constant_choice(operands[side]);
        if (inner == nullptr || !operands[1 - side].is_constant()) continue;
        const std::vector<Symbolic>& choice = inner->operands;
        std::array<bool, 2> outcome{};
        for (std::size_t i = 0; i < 2; i++) {
            std::array<std::uint64_t, 2> values{choice[i].constant(), operands[1 - side].constant()};
            if (side == 1) std::swap(values[0], values[1]);
            outcome[i] = analysis::apply(operation, values) != 0;
        }
        if (outcome[0] == outcome[1]) return constant(outcome[0] ? 1 : 0, 1);
        return outcome[0] ? choice[2] : negate(choice[2]);
    }
    if (operands[0] == operands[1]) {
        const std::array<std::uint64_t, 2> equal{0, 0};
        return constant(analysis::apply(operation, equal), 1);
    }
    return std::nullopt;
}

std::optional<Symbolic> SymbolTable::logical_fold(const Operation& operation,
                                                  const std::vector<Symbolic>& operands) {
    if (operation.op == Operator::not_) {
        const Atom* inner = as_operation(operands[0]);
        if (inner == nullptr) return std::nullopt;
        if (inner->operation.op == Operator::not_) return inner->operands[0];
        if (inner->operation.op != Operator::setp) return std::nullopt;
        Operation inverted = inner->operation;
        inverted.comparison = inverse(inverted.comparison);
        return operation_atom(inverted, inner->operands);
    }
    for (std::size_t i = 0; i < 2; i++) {
        if (!operands[i].is_constant()) continue;
        const bool value = operands[i].constant() != 0;
        const Symbolic& other = operands[1 - i];
        if (operation.op == Operator::and_) return value ? other : constant(0, 1);
        if (operation.op == Operator::or_) return value ? constant(1, 1) : other;
        return value ? negate(other) : other;
    }
    if (operands[0] == operands[1]) return operation.op == Operator::xor_ ? constant(0, 1) : operands[0];
    return std::nullopt;
}

Symbolic SymbolTable::apply(const Operation& given, const std::vector<Symbolic>& operands) {
    const Operation operation = canonical(given);
    if (std::ranges::all_of(operands, &Symbolic::is_constant)) {
        std::vector<std::uint64_t> values;
        for (const Symbolic& operand : operands) values.push_back(operand.constant());
        const bool unspecified =
            (operation.op == Operator::div || operation.op == Operator::rem) && values[1] == 0;
        if (!unspecified) return constant(analysis::apply(operation, values), width_bits(operation.result));
    }
    if (const auto result = polynomial(operation, operands)) return *result;
    if (operation.op == Operator::setp)
        if (const auto result = comparison(operation, operands)) return *result;
    if (operation.type == ptx::Type::pred && operation.op != Operator::selp)
        if (const auto result = logical_fold(operation, operands)) return *result;
    if (const auto result = through_select(operation, operands)) return *result;
    return operation_atom(operation, operands);
}

// (p ? 1 : 0) & 1, as predicates come back from functions: the choice is between what the operation makes of
// each constant.
std::optional<Symbolic> SymbolTable::through_select(const Operation& operation,
                                                    const std::vector<Symbolic>& operands) {
    const unsigned width = width_bits(operation.result);
    const auto bits = bits_type(width);
    if (!bits || operation.op == Operator::selp || operation.op == Operator::div ||
        operation.op == Operator::rem)
        return std::nullopt;
    std::optional<std::size_t> chosen;
    for (std::size_t i = 0; i < operands.size(); i++) {
        if (operands[i].is_constant()) continue;
        if (chosen) return std::nullopt;
        chosen = i;
    }
    const Atom* inner = chosen ? as_constant_choice(operands[*chosen]) : nullptr;
    if (inner == nullptr) return std::nullopt;
    const std::vector<Symbolic>& choice = inner->operands;
    std::array<Symbolic, 2> made;
    for (std::size_t i = 0; i < 2; i++) {
        std::vector<std::uint64_t> values;
        for (std::size_t o = 0; o < operands.size(); o++)
            values.push_back(o == *chosen ? choice[i].constant() : operands[o].constant());
        made[i] = constant(analysis::apply(operation, values), width);
    }
    return apply(*operation_of(Operator::selp, *bits), {made[0], made[1], choice[2]});
}

bool SymbolTable::is_small(const Symbolic& a) const {
    std::size_t count = 0;
    for_each_atom(a, [&count](AtomIndex) { count++; });
    return count <= max_small_atoms;
}

Symbolic SymbolTable::substitute(const Symbolic& a, const std::map<AtomIndex, Symbolic>& map) {
    if (map.empty()) return a;
    std::map<AtomIndex, Symbolic> done = map;
    return substituted(a, map, done);
}

Symbolic SymbolTable::substituted(const Symbolic& a, const std::map<AtomIndex, Symbolic>& map,
                                  std::map<AtomIndex, Symbolic>& done) {
    Symbolic sum{a.width, {}};
    for (const Term& term : a.terms) {
        Symbolic product = constant(term.coefficient, a.width);
        for (const AtomIndex index : term.atoms) {
            Symbolic factor{a.width, {{{index}, 1}}};
            if (const auto at = done.find(index); at != done.end()) {
                factor = at->second;
            } else if (atom(index).kind == Kind::operation) {
                const Atom& made = atom(index);
                std::vector<Symbolic> operands;
                bool changed = false;
                for (const Symbolic& operand : made.operands) {
                    operands.push_back(substituted(operand, map, done));
                    changed |= operands.back() != operand;
                }
                if (changed) factor = apply(made.operation, operands);
                done[index] = factor;
            }
            auto next = multiply(product, factor);
            if (!next) return a;  // too large: left as it was, which only says less
            product = std::move(*next);
        }
        sum = add(sum, product);
    }
    return sum;
}

}  // namespace trimtab::analysis
