// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "analysis/launches/operation.h"

#include <array>
#include <limits>

namespace trimtab::analysis {
namespace {

using ptx::Comparison;
using ptx::Type;

struct TypeEntry {
    std::string_view name;
    Type type;
    unsigned bits;
    bool is_signed;
};
// Floating-point types have names here, for data parameters, but no width: no operator takes them.
constexpr std::array types{
    TypeEntry{"pred", Type::pred, 1, false}, TypeEntry{"b8", Type::b8, 8, false},
    TypeEntry{"b16", Type::b16, 16, false},  TypeEntry{"b32", Type::b32, 32, false},
    TypeEntry{"b64", Type::b64, 64, false},  TypeEntry{"u8", Type::u8, 8, false},
    TypeEntry{"u16", Type::u16, 16, false},  TypeEntry{"u32", Type::u32, 32, false},
    TypeEntry{"u64", Type::u64, 64, false},  TypeEntry{"s8", Type::s8, 8, true},
    TypeEntry{"s16", Type::s16, 16, true},   TypeEntry{"s32", Type::s32, 32, true},
    TypeEntry{"s64", Type::s64, 64, true},   TypeEntry{"f16", Type::f16, 0, false},
    TypeEntry{"bf16", Type::bf16, 0, false}, TypeEntry{"f32", Type::f32, 0, false},
    TypeEntry{"f64", Type::f64, 0, false},   TypeEntry{"b128", Type::b128, 0, false},
};

struct OperatorEntry {
    std::string_view name;
    Operator op;
    unsigned arity;
};
constexpr std::array operators{
    OperatorEntry{"add", Operator::add, 2},
    OperatorEntry{"sub", Operator::sub, 2},
    OperatorEntry{"mul.lo", Operator::mul_lo, 2},
    OperatorEntry{"mul.hi", Operator::mul_hi, 2},
    OperatorEntry{"mul.wide", Operator::mul_wide, 2},
    OperatorEntry{"mul24.lo", Operator::mul24_lo, 2},
    OperatorEntry{"mad.lo", Operator::mad_lo, 3},
    OperatorEntry{"mad.hi", Operator::mad_hi, 3},
    OperatorEntry{"mad.wide", Operator::mad_wide, 3},
    OperatorEntry{"shl", Operator::shl, 2},
    OperatorEntry{"shr", Operator::shr, 2},
    OperatorEntry{"and", Operator::and_, 2},
    OperatorEntry{"or", Operator::or_, 2},
    OperatorEntry{"xor", Operator::xor_, 2},
    OperatorEntry{"not", Operator::not_, 1},
    OperatorEntry{"neg", Operator::neg, 1},
    OperatorEntry{"abs", Operator::abs, 1},
    OperatorEntry{"min", Operator::min, 2},
    OperatorEntry{"max", Operator::max, 2},
    OperatorEntry{"div", Operator::div, 2},
    OperatorEntry{"rem", Operator::rem, 2},
    OperatorEntry{"cvt", Operator::cvt, 1},
    OperatorEntry{"setp", Operator::setp, 2},
    OperatorEntry{"selp", Operator::selp, 3},
};

struct ComparisonEntry {
    std::string_view name;
    Comparison comparison;
};
constexpr std::array comparisons{
    ComparisonEntry{"eq", Comparison::eq}, ComparisonEntry{"ne", Comparison::ne},
    ComparisonEntry{"lt", Comparison::lt}, ComparisonEntry{"le", Comparison::le},
    ComparisonEntry{"gt", Comparison::gt}, ComparisonEntry{"ge", Comparison::ge},
};

const TypeEntry* entry(Type type) {
    for (const TypeEntry& candidate : types)
        if (candidate.type == type) return &candidate;
    return nullptr;
}

unsigned arity(Operator op) {
    for (const OperatorEntry& candidate : operators)
        if (candidate.op == op) return candidate.arity;
    return 0;
}

bool is_logical(Operator op) {
    return op == Operator::and_ || op == Operator::or_ || op == Operator::xor_ || op == Operator::not_;
}

// Twice the width, the same sign: the result of mul.wide and mad.wide.
Type wider(Type type) {
    switch (type) {
        case Type::u16:
            return Type::u32;
        case Type::s16:
            return Type::s32;
        case Type::u32:
            return Type::u64;
        case Type::s32:
            return Type::s64;
        default:
            return Type::none;
    }
}

std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b, unsigned width, bool is_signed) {
    if (is_signed) {
        const __int128 product =
            static_cast<__int128>(sign_extend(a, width)) * static_cast<__int128>(sign_extend(b, width));
        return static_cast<std::uint64_t>(product >> width);
    }
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b >> width);
}

std::uint64_t divide(std::uint64_t a, std::uint64_t b, unsigned width, bool is_signed, bool remainder) {
    if (b == 0) return ~std::uint64_t{0};
    if (!is_signed) return remainder ? a % b : a / b;
    const std::int64_t dividend = sign_extend(a, width), divisor = sign_extend(b, width);
    // The least number by -1 wraps to itself.
    if (divisor == -1) return remainder ? 0 : std::uint64_t{0} - a;
    return static_cast<std::uint64_t>(remainder ? dividend % divisor : dividend / divisor);
}

bool compare(Comparison comparison, std::uint64_t a, std::uint64_t b, unsigned width, bool is_signed) {
    const bool equal = a == b;
    const bool less = is_signed ? sign_extend(a, width) < sign_extend(b, width) : a < b;
    switch (comparison) {
        case Comparison::eq:
            return equal;
        case Comparison::ne:
            return !equal;
        case Comparison::lt:
            return less;
        case Comparison::le:
            return less || equal;
        case Comparison::gt:
            return !less && !equal;
        default:
            return !less;
    }
}

}  // namespace

unsigned width_bits(Type type) {
    const TypeEntry* found = entry(type);
    return found == nullptr ? 0 : found->bits;
}

bool is_signed_type(Type type) {
    const TypeEntry* found = entry(type);
    return found != nullptr && found->is_signed;
}

std::string_view type_name(Type type) {
    const TypeEntry* found = entry(type);
    return found == nullptr ? "none" : found->name;
}

std::optional<Type> type_from_name(std::string_view name) {
    for (const TypeEntry& candidate : types)
        if (candidate.name == name) return candidate.type;
    return std::nullopt;
}

std::optional<Type> bits_type(unsigned width) {
    for (const Type type : {Type::b8, Type::b16, Type::b32, Type::b64})
        if (width_bits(type) == width) return type;
    return std::nullopt;
}
std::optional<Type> integer_type(bool is_signed, unsigned width) {
    for (const TypeEntry& candidate : types)
        if (candidate.bits == width && candidate.is_signed == is_signed && candidate.name[0] != 'b' &&
            candidate.type != Type::pred)
            return candidate.type;
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
    if (op == Operator::cvt || width_bits(type) == 0) return std::nullopt;
    // Predicates have the logical operators alone.
    if (type == Type::pred && !is_logical(op)) return std::nullopt;
    if (op == Operator::setp && comparison_name(comparison) == "none") return std::nullopt;
    Operation operation{.op = op, .comparison = comparison, .type = type, .result = type, .arity = arity(op)};
    if (op == Operator::setp) operation.result = Type::pred;
    if (op == Operator::mul_wide || op == Operator::mad_wide) {
        operation.result = wider(type);
        if (operation.result == Type::none) return std::nullopt;
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
    std::string text;
    for (const OperatorEntry& candidate : operators)
        if (candidate.op == operation.op) text = candidate.name;
    if (operation.op == Operator::setp) text.append(".").append(comparison_name(operation.comparison));
    text.append(".").append(type_name(operation.type));
    if (operation.op == Operator::cvt) text.append(".").append(type_name(operation.source));
    return text;
}

std::uint64_t apply(const Operation& operation, std::span<const std::uint64_t> operands) {
    const unsigned width = width_bits(operation.type);
    const bool is_signed = is_signed_type(operation.type);
    const std::uint64_t a = operands[0], b = operands.size() > 1 ? operands[1] : 0,
                        c = operands.size() > 2 ? operands[2] : 0;
    std::uint64_t result = 0;
    switch (operation.op) {
        case Operator::add:
            result = a + b;
            break;
        case Operator::sub:
            result = a - b;
            break;
        case Operator::mul_lo:
            result = a * b;
            break;
        case Operator::mul_hi:
            result = multiply_high(a, b, width, is_signed);
            break;
        case Operator::mul_wide:
        case Operator::mad_wide:
            result = is_signed ? static_cast<std::uint64_t>(sign_extend(a, width)) *
                                     static_cast<std::uint64_t>(sign_extend(b, width))
                               : a * b;
            result += c;
            break;
        case Operator::mul24_lo:
            result = is_signed ? static_cast<std::uint64_t>(sign_extend(truncate_bits(a, 24), 24)) *
                                     static_cast<std::uint64_t>(sign_extend(truncate_bits(b, 24), 24))
                               : truncate_bits(a, 24) * truncate_bits(b, 24);
            break;
        case Operator::mad_lo:
            result = a * b + c;
            break;
        case Operator::mad_hi:
            result = multiply_high(a, b, width, is_signed) + c;
            break;
        case Operator::shl:
            result = b >= width ? 0 : a << b;
            break;
        case Operator::shr:
            // PTX ISA, shr: amounts above the width count as the width.
            if (is_signed)
                result = static_cast<std::uint64_t>(sign_extend(a, width) >> (b >= width ? width - 1 : b));
            else
                result = b >= width ? 0 : a >> b;
            break;
        case Operator::and_:
            result = a & b;
            break;
        case Operator::or_:
            result = a | b;
            break;
        case Operator::xor_:
            result = a ^ b;
            break;
        case Operator::not_:
            result = ~a;
            break;
        case Operator::neg:
            result = std::uint64_t{0} - a;
            break;
        case Operator::abs:
            result = is_signed && sign_extend(a, width) < 0 ? std::uint64_t{0} - a : a;
            break;
        case Operator::min:
            result = compare(Comparison::lt, a, b, width, is_signed) ? a : b;
            break;
        case Operator::max:
            result = compare(Comparison::gt, a, b, width, is_signed) ? a : b;
            break;
        case Operator::div:
            result = divide(a, b, width, is_signed, false);
            break;
        case Operator::rem:
            result = divide(a, b, width, is_signed, true);
            break;
        case Operator::cvt:
            result = is_signed_type(operation.source)
                         ? static_cast<std::uint64_t>(sign_extend(a, width_bits(operation.source)))
                         : a;
            break;
        case Operator::setp:
            result = compare(operation.comparison, a, b, width, is_signed) ? 1 : 0;
            break;
        case Operator::selp:
            result = c != 0 ? a : b;
            break;
    }
    return truncate_bits(result, width_bits(operation.result));
}

}  // namespace trimtab::analysis
