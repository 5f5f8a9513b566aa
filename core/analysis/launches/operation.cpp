// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/operation.h"

#include <array>

#include "core/ptx/names.h"
#include "core/ptx/semantics/evaluate.h"

namespace trimtab::analysis {
namespace {

using ptx::Comparison;
using ptx::Opcode;
using ptx::Type;
using ptx::semantics::Form;

struct OperatorEntry {
    std::string_view name;
    Operator op;
    unsigned arity;
    Opcode opcode;
    Form form = Form::plain;
};
// In the order of the enumeration.
constexpr std::array operators{
    OperatorEntry{"add", Operator::add, 2, Opcode::add},
    OperatorEntry{"sub", Operator::sub, 2, Opcode::sub},
    OperatorEntry{"mul.lo", Operator::mul_lo, 2, Opcode::mul, Form::lo},
    OperatorEntry{"mul.hi", Operator::mul_hi, 2, Opcode::mul, Form::hi},
    OperatorEntry{"mul.wide", Operator::mul_wide, 2, Opcode::mul, Form::wide},
    OperatorEntry{"mul24.lo", Operator::mul24_lo, 2, Opcode::mul24, Form::lo},
    OperatorEntry{"mad.lo", Operator::mad_lo, 3, Opcode::mad, Form::lo},
    OperatorEntry{"mad.hi", Operator::mad_hi, 3, Opcode::mad, Form::hi},
    OperatorEntry{"mad.wide", Operator::mad_wide, 3, Opcode::mad, Form::wide},
    OperatorEntry{"shl", Operator::shl, 2, Opcode::shl},
    OperatorEntry{"shr", Operator::shr, 2, Opcode::shr},
    OperatorEntry{"and", Operator::and_, 2, Opcode::and_},
    OperatorEntry{"or", Operator::or_, 2, Opcode::or_},
    OperatorEntry{"xor", Operator::xor_, 2, Opcode::xor_},
    OperatorEntry{"not", Operator::not_, 1, Opcode::not_},
    OperatorEntry{"neg", Operator::neg, 1, Opcode::neg},
    OperatorEntry{"abs", Operator::abs, 1, Opcode::abs},
    OperatorEntry{"min", Operator::min, 2, Opcode::min},
    OperatorEntry{"max", Operator::max, 2, Opcode::max},
    OperatorEntry{"div", Operator::div, 2, Opcode::div},
    OperatorEntry{"rem", Operator::rem, 2, Opcode::rem},
    OperatorEntry{"cvt", Operator::cvt, 1, Opcode::cvt},
    OperatorEntry{"setp", Operator::setp, 2, Opcode::setp},
    OperatorEntry{"selp", Operator::selp, 3, Opcode::selp},
};
static_assert([] {
    for (std::size_t i = 0; i < operators.size(); i++)
        if (operators[i].op != static_cast<Operator>(i)) return false;
    return operators.size() == static_cast<std::size_t>(Operator::selp) + 1;
}());

constexpr const OperatorEntry& entry(Operator op) {
    return operators[static_cast<std::size_t>(op)];
}

struct ComparisonEntry {
    std::string_view name;
    Comparison comparison;
};
constexpr std::array comparisons{
    ComparisonEntry{"eq", Comparison::eq}, ComparisonEntry{"ne", Comparison::ne},
    ComparisonEntry{"lt", Comparison::lt}, ComparisonEntry{"le", Comparison::le},
    ComparisonEntry{"gt", Comparison::gt}, ComparisonEntry{"ge", Comparison::ge},
};

}  // namespace

std::optional<Type> type_from_name(std::string_view name) {
    return ptx::find_type(name);
}

std::optional<Operator> operator_of(Opcode opcode, Form form) {
    for (const OperatorEntry& candidate : operators)
        if (candidate.opcode == opcode && candidate.form == form) return candidate.op;
    return std::nullopt;
}

std::optional<Type> bits_type(unsigned width) {
    for (const Type type : {Type::b8, Type::b16, Type::b32, Type::b64})
        if (width_bits(type) == width) return type;
    return std::nullopt;
}
std::optional<Type> integer_type(bool is_signed, unsigned width) {
    for (const Type type :
         {Type::u8, Type::u16, Type::u32, Type::u64, Type::s8, Type::s16, Type::s32, Type::s64})
        if (width_bits(type) == width && ptx::is_signed(type) == is_signed) return type;
    return std::nullopt;
}

std::string_view comparison_name(Comparison comparison) {
    for (const ComparisonEntry& candidate : comparisons)
        if (candidate.comparison == comparison) return candidate.name;
    return "none";
}

Type Operation::operand_type(unsigned index) const {
    switch (op) {
        case Operator::cvt:
            return source;
        case Operator::shl:
        case Operator::shr:
            return index == 1 ? Type::u32 : type;
        case Operator::selp:
            return index == 2 ? Type::pred : type;
        case Operator::mad_wide:
            return index == 2 ? result : type;
        default:
            return type;
    }
}

std::optional<Operation> operation_of(Operator op, Type type, Comparison comparison) {
    const auto* function = ptx::semantics::find(entry(op).opcode, entry(op).form, type);
    if (function == nullptr) return std::nullopt;
    if (op == Operator::setp && comparison_name(comparison) == "none") return std::nullopt;
    Operation operation{
        .op = op, .comparison = comparison, .type = type, .result = type, .arity = entry(op).arity};
    if (op == Operator::setp) operation.result = Type::pred;
    if (op == Operator::mul_wide || op == Operator::mad_wide) {
        // It has no sign to widen by.
        if (ptx::info(type).kind == ptx::TypeKind::bits) return std::nullopt;
        operation.result = function->result;
    }
    return operation;
}

std::optional<Operation> conversion(Type to, Type from) {
    if (width_bits(to) < 8 || width_bits(from) < 8) return std::nullopt;
    return Operation{.op = Operator::cvt, .type = to, .source = from, .result = to, .arity = 1};
}

std::optional<Operation> decode_operation(std::string_view mnemonic) {
    for (const OperatorEntry& candidate : operators) {
        if (!mnemonic.starts_with(candidate.name) || mnemonic.size() <= candidate.name.size() ||
            mnemonic[candidate.name.size()] != '.')
            continue;
        std::string_view rest = mnemonic.substr(candidate.name.size() + 1), first;
        if (candidate.op == Operator::setp || candidate.op == Operator::cvt) {
            const std::size_t dot = rest.find('.');
            if (dot == std::string_view::npos) return std::nullopt;
            first = rest.substr(0, dot);
            rest = rest.substr(dot + 1);
        }
        const auto type = type_from_name(rest);
        if (!type) return std::nullopt;
        if (candidate.op == Operator::cvt) {
            const auto to = type_from_name(first);
            return to ? conversion(*to, *type) : std::nullopt;
        }
        Comparison comparison = Comparison::none;
        for (const ComparisonEntry& entry : comparisons)
            if (entry.name == first) comparison = entry.comparison;
        return operation_of(candidate.op, *type, comparison);
    }
    return std::nullopt;
}

std::string mnemonic(const Operation& operation) {
    std::string text(entry(operation.op).name);
    if (operation.op == Operator::setp) text.append(".").append(comparison_name(operation.comparison));
    text.append(".").append(type_name(operation.type));
    if (operation.op == Operator::cvt) text.append(".").append(type_name(operation.source));
    return text;
}

std::uint64_t apply(const Operation& operation, std::span<const std::uint64_t> operands) {
    if (operation.op == Operator::cvt)
        return ptx::semantics::convert(operands[0], operation.source, operation.type);
    const OperatorEntry& known = entry(operation.op);
    const auto result = ptx::semantics::evaluate(
        {known.opcode, known.form, operation.type, {static_cast<std::uint64_t>(operation.comparison)}},
        operands);
    return result.value_or(0);
}

}  // namespace trimtab::analysis
