// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How values move with the global indices.
#include <array>

#include "core/analysis/values/guards.h"

namespace trimtab::analysis {
namespace {

Trend reversed(Trend trend) {
    if (trend == Trend::rises) return Trend::falls;
    if (trend == Trend::falls) return Trend::rises;
    return trend;
}

Trend together(Trend a, Trend b) {
    if (a == Trend::none) return b;
    if (b == Trend::none || a == b) return a;
    return Trend::unknown;
}

Trend comparison_trend(ptx::Comparison comparison, Trend left, Trend right) {
    const Trend difference = together(left, reversed(right));
    switch (comparison) {
        case ptx::Comparison::ge:
        case ptx::Comparison::gt:
            return difference;
        case ptx::Comparison::le:
        case ptx::Comparison::lt:
            return reversed(difference);
        // i != 0 exits: all but one index.
        case ptx::Comparison::ne:
            return difference == Trend::none || difference == Trend::unknown ? difference : Trend::rises;
        default:
            return difference == Trend::none ? Trend::none : Trend::unknown;
    }
}

class TrendFinder {
  public:
    TrendFinder(const SymbolTable& table, Dimension dimension) : table_(table), dimension_(dimension) {}

    Trend of(const Symbolic& value) {
        Trend sum = Trend::none;
        for (const Term& term : table_.with_global_index(value).terms) {
            Trend product = Trend::none;
            for (const AtomIndex index : term.atoms) product = together(product, of_atom(index));
            // Of a parameter's sign nothing is known before the launch: it is taken for positive here, and
            // the arguments decide.
            if (value.width > 1 && sign_extend(term.coefficient, value.width) < 0)
                product = reversed(product);
            sum = together(sum, product);
        }
        return sum;
    }

  private:
    Trend of_atom(AtomIndex index) {
        if (const auto at = known_.find(index); at != known_.end()) return at->second;
        const Atom& atom = table_.atom(index);
        Trend result = Trend::none;
        if (atom.dimension == dimension_) {
            if (atom.kind == Atom::Kind::global_index || atom.kind == Atom::Kind::warp_index)
                result = Trend::rises;
            if (atom.kind == Atom::Kind::lane) result = Trend::unknown;
        }
        if (atom.kind == Atom::Kind::operation) result = of_operation(atom);
        known_[index] = result;
        return result;
    }

    Trend of_operation(const Atom& atom) {
        const Operation& operation = atom.operation;
        std::array<Trend, 3> trends{};
        bool depends = false;
        for (std::size_t i = 0; i < atom.operands.size(); i++) {
            trends[i] = of(atom.operands[i]);
            depends |= trends[i] != Trend::none;
        }
        if (!depends) return Trend::none;
        const bool is_predicate = operation.type == ptx::Type::pred;
        switch (operation.op) {
            case Operator::cvt:
                return width_bits(operation.type) > width_bits(operation.source) ? trends[0] : Trend::unknown;
            case Operator::shr:
            case Operator::div:
            case Operator::shl:
                return trends[1] == Trend::none ? trends[0] : Trend::unknown;
            case Operator::mul_lo:
            case Operator::mul_wide:
            case Operator::max:
                return together(trends[0], trends[1]);
            case Operator::mad_lo:
            case Operator::mad_wide:
                return together(together(trends[0], trends[1]), trends[2]);
            case Operator::setp:
                return comparison_trend(operation.comparison, trends[0], trends[1]);
            case Operator::and_:
            case Operator::or_:
                return is_predicate ? together(trends[0], trends[1]) : Trend::unknown;
            // Far from where it is 0.
            case Operator::abs:
                return trends[0] == Trend::unknown ? trends[0] : Trend::rises;
            case Operator::selp:
                return trends[2] == Trend::none ? together(trends[0], trends[1]) : Trend::unknown;
            case Operator::not_:
                return is_predicate ? reversed(trends[0]) : Trend::unknown;
            default:
                return Trend::unknown;
        }
    }

    const SymbolTable& table_;
    Dimension dimension_;
    std::map<AtomIndex, Trend> known_;
};

// base + constant, through extensions.
struct Offset {
    AtomIndex base = 0;
};
std::optional<Offset> offset_of(const SymbolTable& table, const Symbolic& value) {
    std::optional<AtomIndex> base;
    for (const Term& term : table.with_global_index(value).terms) {
        if (term.atoms.empty()) continue;
        if (base || term.atoms.size() != 1 || term.coefficient != 1) return std::nullopt;
        base = term.atoms[0];
    }
    if (!base) return std::nullopt;
    const Atom& atom = table.atom(*base);
    if (atom.kind == Atom::Kind::operation) {
        if (atom.operation.op == Operator::cvt &&
            width_bits(atom.operation.type) > width_bits(atom.operation.source))
            return offset_of(table, atom.operands[0]);
        return std::nullopt;
    }
    return Offset{*base};
}

}  // namespace

Trend trend(const SymbolTable& table, const Symbolic& value, Dimension dimension) {
    if (!table.is_small(value)) return Trend::unknown;
    return TrendFinder(table, dimension).of(value);
}

std::optional<IndexBound> index_bound(const SymbolTable& table, const Symbolic& predicate) {
    const Atom* comparison = table.as_operation(predicate);
    if (comparison == nullptr) return std::nullopt;
    // And index != 0, say: the first thread has more to do.
    if (comparison->operation.op == Operator::and_) {
        for (const std::size_t side : {0, 1}) {
            const auto bound = index_bound(table, comparison->operands[side]);
            bool is_alone = true;
            table.for_each_atom(comparison->operands[1 - side], [&](AtomIndex index) {
                is_alone &= table.atom(index).kind != Atom::Kind::parameter;
            });
            if (bound && is_alone) return bound;
        }
        return std::nullopt;
    }
    if (comparison->operation.op != Operator::setp) return std::nullopt;
    const auto& operands = comparison->operands;
    const auto left = offset_of(table, operands[0]), right = offset_of(table, operands[1]);
    if (!left || !right) return std::nullopt;
    const Atom &a = table.atom(left->base), &b = table.atom(right->base);
    const auto is_index = [](const Atom& atom) {
        return atom.kind == Atom::Kind::global_index || atom.kind == Atom::Kind::warp_index;
    };
    if (is_index(a) && b.kind == Atom::Kind::parameter)
        return IndexBound{a.dimension, right->base, a.kind == Atom::Kind::warp_index};
    if (is_index(b) && a.kind == Atom::Kind::parameter)
        return IndexBound{b.dimension, left->base, b.kind == Atom::Kind::warp_index};
    return std::nullopt;
}

}  // namespace trimtab::analysis
