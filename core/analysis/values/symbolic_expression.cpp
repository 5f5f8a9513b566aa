// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Polynomials as typed expression trees.
#include "core/analysis/values/guards.h"

namespace trimtab::analysis {
namespace {

class ExpressionWriter {
  public:
    explicit ExpressionWriter(const SymbolTable& table) : table_(table) {}

    std::optional<Expression> write(const Symbolic& given, ptx::Type type) {
        const Symbolic value = table_.with_global_index(given);
        // Shared operands are written out each time: what explodes is no guard.
        if (++nodes_ > max_nodes) return std::nullopt;
        if (value.width == 1) return predicate(value);
        // Positive terms first and the constant last, as people write sums.
        std::vector<const Term*> terms;
        const auto take = [&](bool constants, bool negative) {
            for (const Term& term : value.terms)
                if (term.atoms.empty() == constants &&
                    (constants || is_negative(term, value.width) == negative))
                    terms.push_back(&term);
        };
        take(false, false);
        take(false, true);
        take(true, false);
        if (terms.empty()) return constant(0, type);
        std::optional<Expression> sum;
        for (const Term* term : terms) {
            // i - 1 stays an addition of -1, n - i becomes a subtraction.
            const bool subtracts = sum && !term->atoms.empty() && is_negative(*term, value.width);
            auto next =
                product(*term, subtracts ? std::uint64_t{0} - term->coefficient : term->coefficient, type);
            if (!next) return std::nullopt;
            sum = sum ? node(subtracts ? Operator::sub : Operator::add, type,
                             {std::move(*sum), std::move(*next)})
                      : std::move(*next);
        }
        return sum;
    }

  private:
    static bool is_negative(const Term& term, unsigned width) {
        return sign_extend(term.coefficient, width) < 0;
    }
    static Expression constant(std::uint64_t bits, ptx::Type type) {
        Expression leaf;
        leaf.type = type;
        leaf.bits = truncate_bits(bits, width_bits(type));
        return leaf;
    }
    static Expression node(Operator op, ptx::Type type, std::vector<Expression> arguments) {
        return applied(*operation_of(op, type), std::move(arguments));
    }

    std::optional<Expression> predicate(const Symbolic& value) {
        if (value.is_constant()) return constant(value.constant(), ptx::Type::pred);
        const auto index = value.single_atom();
        return index ? atom(*index, ptx::Type::pred) : std::nullopt;
    }

    std::optional<Expression> product(const Term& term, std::uint64_t coefficient, ptx::Type type) {
        coefficient = truncate_bits(coefficient, width_bits(type));
        if (term.atoms.empty()) return constant(coefficient, type);
        std::optional<Expression> result;
        for (const AtomIndex index : term.atoms) {
            auto next = atom(index, type);
            if (!next) return std::nullopt;
            result = result ? node(Operator::mul_lo, type, {std::move(*result), std::move(*next)})
                            : std::move(*next);
        }
        if (coefficient == 1) return result;
        return node(Operator::mul_lo, type, {std::move(*result), constant(coefficient, type)});
    }

    std::optional<Expression> atom(AtomIndex index, ptx::Type type) {
        const Atom& source = table_.atom(index);
        Expression result;
        result.type = type;
        switch (source.kind) {
            case Atom::Kind::global_index:
                result.kind = Expression::Kind::global_index;
                result.dimension = source.dimension;
                result.type = width_bits(type) == 64 ? ptx::Type::u64 : ptx::Type::u32;
                // An index is narrower than 32 bits only by truncation, which the grammar spells out.
                if (width_bits(type) < 32) return std::nullopt;
                return result;
            case Atom::Kind::warp_index:
            case Atom::Kind::lane:
                return part_of_index(source, type);
            case Atom::Kind::row_index:
                result.kind = Expression::Kind::block_index;
                result.dimension = source.dimension;
                result.type = width_bits(type) == 64 ? ptx::Type::u64 : ptx::Type::u32;
                if (width_bits(type) < 32) return std::nullopt;
                return result;
            case Atom::Kind::parameter:
                if (source.width < 8) return std::nullopt;
                result.kind = Expression::Kind::parameter;
                result.parameter = source.parameter;
                result.offset = source.offset;
                return result;
            case Atom::Kind::operation:
                break;
            default:
                return std::nullopt;
        }
        std::vector<Expression> operands;
        for (unsigned i = 0; i < source.operands.size(); i++) {
            auto operand = write(source.operands[i], leaf_type(source.operation.operand_type(i)));
            if (!operand) return std::nullopt;
            operands.push_back(std::move(*operand));
        }
        return applied(source.operation, std::move(operands));
    }

    // g >> 5 and g & 31.
    static std::optional<Expression> part_of_index(const Atom& source, ptx::Type type) {
        if (width_bits(type) < 32) return std::nullopt;
        Expression index, count;
        index.kind = Expression::Kind::global_index;
        index.dimension = source.dimension;
        index.type = width_bits(type) == 64 ? ptx::Type::u64 : ptx::Type::u32;
        const bool is_lane = source.kind == Atom::Kind::lane;
        count = constant(is_lane ? 31 : 5, is_lane ? index.type : ptx::Type::u32);
        const ptx::Type type_of_index = index.type;
        return node(is_lane ? Operator::and_ : Operator::shr, type_of_index,
                    {std::move(index), std::move(count)});
    }

    // Untyped bits are read as unsigned numbers.
    static ptx::Type leaf_type(ptx::Type type) {
        switch (type) {
            case ptx::Type::b8:
                return ptx::Type::u8;
            case ptx::Type::b16:
                return ptx::Type::u16;
            case ptx::Type::b32:
                return ptx::Type::u32;
            case ptx::Type::b64:
                return ptx::Type::u64;
            default:
                return type;
        }
    }

    static constexpr unsigned max_nodes = 2000;
    const SymbolTable& table_;
    unsigned nodes_ = 0;
};

}  // namespace

bool is_expressible(const SymbolTable& table, const Symbolic& value) {
    bool good = table.is_small(value);
    table.for_each_atom(value, [&](AtomIndex index) {
        const Atom::Kind kind = table.atom(index).kind;
        good &= kind == Atom::Kind::global_index || kind == Atom::Kind::row_index ||
                kind == Atom::Kind::warp_index || kind == Atom::Kind::lane || kind == Atom::Kind::parameter ||
                kind == Atom::Kind::operation;
    });
    return good;
}

std::optional<Expression> to_expression(const SymbolTable& table, const Symbolic& value, ptx::Type type) {
    if (!is_expressible(table, value)) return std::nullopt;
    return ExpressionWriter(table).write(value, type);
}

}  // namespace trimtab::analysis
