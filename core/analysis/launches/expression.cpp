// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions as JSON and as text for people.
#include "core/analysis/launches/expression.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/analysis/launches/expression_json.h"
#include "core/analysis/launches/operation.h"
#include "core/model/launch_configuration.h"

namespace trimtab::analysis {
namespace {

using base::JsonValue;
using nlohmann::json;
using Kind = Expression::Kind;

// Far above what kernels have, and low enough for recursion over a hostile file.
constexpr unsigned max_nesting = 200;
constexpr unsigned max_nodes = 20000;

bool is_comparison_or_logic(const Operation& operation) {
    return operation.result == ptx::Type::pred;
}

// --- text ---

struct Text {
    std::string text;
    int precedence = 100;  // of C, higher binds closer
};

std::string within(const Text& part, int precedence) {
    return part.precedence < precedence ? "(" + part.text + ")" : part.text;
}

std::string_view comparison_sign(ptx::Comparison comparison) {
    switch (comparison) {
        case ptx::Comparison::eq:
            return "==";
        case ptx::Comparison::ne:
            return "!=";
        case ptx::Comparison::lt:
            return "<";
        case ptx::Comparison::le:
            return "<=";
        case ptx::Comparison::gt:
            return ">";
        default:
            return ">=";
    }
}

bool is_plain(const Expression& node) {
    if (node.kind == Kind::operation && node.operation.op == Operator::cvt)
        return is_plain(node.arguments[0]);
    return node.kind != Kind::operation;
}

class TextWriter {
  public:
    explicit TextWriter(std::span<const std::string> names) : names_(names) {}

    Text write(const Expression& node) const {
        switch (node.kind) {
            case Kind::constant:
                return constant(node);
            case Kind::global_index:
                return {fmt::format("g.{}", model::axis_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::block_index:
                return {
                    fmt::format("blockIdx.{}", model::axis_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::block_size:
                return {fmt::format("b{}", model::axis_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::extent:
                return {fmt::format("e{}", model::axis_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::parameter: {
                std::string name = node.parameter < names_.size() ? names_[node.parameter]
                                                                  : fmt::format("param_{}", node.parameter);
                if (node.offset != 0) name += fmt::format("+{}", node.offset);
                return {name};
            }
            case Kind::operation:
                break;
        }
        if (node.operation.arity != node.arguments.size()) return {mnemonic(node.operation)};
        return write(node.operation, node.arguments);
    }

  private:
    static Text constant(const Expression& node) {
        const unsigned width = width_bits(node.type);
        const std::int64_t value = sign_extend(node.bits, width);
        if (is_signed_type(node.type)) return {fmt::format("{}", value), value < 0 ? 90 : 100};
        return {fmt::format("{}", truncate_bits(node.bits, width))};
    }

    Text binary(std::string_view sign, const std::vector<Expression>& operands, int precedence) const {
        const Text left = write(operands[0]), right = write(operands[1]);
        return {fmt::format("{} {} {}", within(left, precedence), sign, within(right, precedence + 1)),
                precedence};
    }
    Text call(std::string_view function, const std::vector<Expression>& operands) const {
        std::string text = fmt::format("{}(", function);
        for (std::size_t i = 0; i < operands.size(); i++)
            text += (i == 0 ? "" : ", ") + write(operands[i]).text;
        return {text + ")"};
    }
    Text plus(const Text& left, const Expression& right) const {
        const std::int64_t addend = sign_extend(right.bits, width_bits(right.type));
        if (right.kind == Kind::constant && addend < 0) {
            const std::uint64_t magnitude = std::uint64_t{0} - static_cast<std::uint64_t>(addend);
            return {fmt::format("{} - {}", within(left, 70), magnitude), 70};
        }
        return {fmt::format("{} + {}", within(left, 70), within(write(right), 71)), 70};
    }

    Text write(const Operation& operation, const std::vector<Expression>& operands) const {
        switch (operation.op) {
            case Operator::add:
                return plus(write(operands[0]), operands[1]);
            case Operator::sub:
                return binary("-", operands, 70);
            case Operator::mul_lo:
            case Operator::mul_wide:
                return binary("*", operands, 80);
            case Operator::mul_hi:
                return call("mulhi", operands);
            case Operator::mul24_lo:
                return call("mul24", operands);
            case Operator::mad_lo:
            case Operator::mad_wide:
                return plus(binary("*", operands, 80), operands[2]);
            case Operator::mad_hi:
                return call("madhi", operands);
            case Operator::shl:
                return binary("<<", operands, 60);
            case Operator::shr:
                return binary(">>", operands, 60);
            case Operator::div:
                return binary("/", operands, 80);
            case Operator::rem:
                return binary("%", operands, 80);
            case Operator::and_:
                return operation.result == ptx::Type::pred ? binary("&&", operands, 20)
                                                           : binary("&", operands, 50);
            case Operator::or_:
                return operation.result == ptx::Type::pred ? binary("||", operands, 10)
                                                           : binary("|", operands, 30);
            case Operator::xor_:
                return binary("^", operands, 40);
            case Operator::not_: {
                const std::string_view sign = is_comparison_or_logic(operation) ? "!" : "~";
                return {fmt::format("{}{}", sign, within(write(operands[0]), 90)), 90};
            }
            case Operator::neg:
                return {fmt::format("-{}", within(write(operands[0]), 91)), 90};
            case Operator::abs:
                return call("abs", operands);
            case Operator::min:
                return call("min", operands);
            case Operator::max:
                return call("max", operands);
            case Operator::cvt: {
                // A wider type keeps the value: not worth a reader's time.
                if (width_bits(operation.type) >= width_bits(operation.source)) return write(operands[0]);
                return {fmt::format("({}){}", type_name(operation.type), within(write(operands[0]), 90)), 90};
            }
            case Operator::setp:
                return comparison(operation, operands);
            case Operator::selp:
                return {fmt::format("{} ? {} : {}", within(write(operands[2]), 6),
                                    within(write(operands[0]), 6), within(write(operands[1]), 5)),
                        5};
        }
        return {std::string(type_name(operation.type))};
    }

    // An unsigned comparison of a difference means something else than a signed one: it shows.
    Text comparison(const Operation& operation, const std::vector<Expression>& operands) const {
        const bool is_unsigned = !is_signed_type(operation.type) &&
                                 operation.comparison != ptx::Comparison::eq &&
                                 operation.comparison != ptx::Comparison::ne;
        std::string sides[2];
        for (std::size_t i = 0; i < 2; i++)
            sides[i] = is_unsigned && !is_plain(operands[i])
                           ? fmt::format("unsigned({})", write(operands[i]).text)
                           : within(write(operands[i]), 66);
        return {fmt::format("{} {} {}", sides[0], comparison_sign(operation.comparison), sides[1]), 65};
    }

    std::span<const std::string> names_;
};

// --- JSON ---

class JsonReader {
  public:
    Expression read(const JsonValue& node, unsigned depth = 0) {
        if (depth > max_nesting || ++nodes_ > max_nodes) node.fail("is nested too deep");
        if (node.json().is_array()) return operation(node, depth);
        if (node.json().is_object()) return leaf(node);
        node.fail("is neither a list nor a leaf: " + excerpt(node));
    }

  private:
    static std::string excerpt(const JsonValue& node) {
        std::string text = node.json().dump(-1, ' ', false, json::error_handler_t::replace);
        if (text.size() > 60) text = text.substr(0, 57) + "...";
        return text;
    }

    Expression operation(const JsonValue& node, unsigned depth) {
        const std::vector<JsonValue> parts = node.list();
        if (parts.empty()) node.fail("does not begin with an operator: []");
        const std::string name = parts[0].text();
        const auto operation = decode_operation(name);
        if (!operation) node.fail("has an unknown operator '" + name + "'");
        if (parts.size() != operation->arity + 1)
            node.fail(fmt::format("gives operator '{}' {} operands, which takes {}", name, parts.size() - 1,
                                  operation->arity));
        std::vector<Expression> operands;
        for (unsigned i = 0; i < operation->arity; i++) {
            Expression operand = read(parts[i + 1], depth + 1);
            if (width_bits(operand.type) != width_bits(operation->operand_type(i)))
                parts[i + 1].fail(
                    fmt::format("has type {}, as an operand of '{}'", type_name(operand.type), name));
            operands.push_back(std::move(operand));
        }
        return applied(*operation, std::move(operands));
    }

    static Expression leaf(const JsonValue& node) {
        const auto type_entry = node.find("type");
        const auto type = type_entry ? type_from_name(type_entry->text()) : std::nullopt;
        if (!type || width_bits(*type) == 0) node.fail("has no integer type: " + excerpt(node));
        Expression result;
        result.type = *type;
        if (const auto value = node.find("value")) return constant(result, *value);
        constexpr std::array<std::pair<const char*, Kind>, 4> indices{{{"g", Kind::global_index},
                                                                       {"row", Kind::block_index},
                                                                       {"block", Kind::block_size},
                                                                       {"extent", Kind::extent}}};
        for (const auto& [key, kind] : indices) {
            const auto dimension = node.find(key);
            if (!dimension) continue;
            result.kind = kind;
            result.dimension = static_cast<Dimension>(dimension->one_of({"x", "y", "z"}));
            const bool is_index = kind == Kind::global_index || kind == Kind::block_index;
            if (is_index && width_bits(*type) < 32) node.fail("is no such index: " + excerpt(node));
            return result;
        }
        const auto parameter = node.find("param"), offset = node.find("offset");
        if (!parameter || width_bits(*type) < 8) node.fail("is none of value, g and param: " + excerpt(node));
        result.kind = Kind::parameter;
        result.parameter = parameter->count();
        result.offset = offset ? offset->count() : 0;
        return result;
    }

    static Expression constant(Expression result, const JsonValue& value) {
        const json& number = value.json();
        const unsigned width = width_bits(result.type);
        if (!number.is_number_integer()) value.fail("is no whole number: " + excerpt(value));
        const std::uint64_t bits = number.is_number_unsigned()
                                       ? number.get<std::uint64_t>()
                                       : static_cast<std::uint64_t>(number.get<std::int64_t>());
        result.bits = truncate_bits(bits, width);
        const bool negative = !number.is_number_unsigned() && number.get<std::int64_t>() < 0;
        const bool fits = negative ? static_cast<std::uint64_t>(sign_extend(result.bits, width)) == bits
                                   : result.bits == bits;
        if (!fits) value.fail(fmt::format("does not fit {}: {}", type_name(result.type), excerpt(value)));
        return result;
    }

    unsigned nodes_ = 0;
};

}  // namespace

std::string to_text(const Expression& expression, std::span<const std::string> names) {
    return TextWriter(names).write(expression).text;
}

json to_json(const Expression& expression) {
    switch (expression.kind) {
        case Kind::constant: {
            const unsigned width = width_bits(expression.type);
            json leaf{{"type", type_name(expression.type)}};
            if (is_signed_type(expression.type))
                leaf["value"] = sign_extend(expression.bits, width);
            else
                leaf["value"] = truncate_bits(expression.bits, width);
            return leaf;
        }
        case Kind::parameter:
            return {{"param", expression.parameter},
                    {"offset", expression.offset},
                    {"type", type_name(expression.type)}};
        case Kind::block_size:
        case Kind::extent:
            return {{expression.kind == Kind::extent ? "extent" : "block",
                     std::string(1, model::axis_names[static_cast<std::size_t>(expression.dimension)])},
                    {"type", type_name(expression.type)}};
        case Kind::global_index:
        case Kind::block_index:
            return {{expression.kind == Kind::global_index ? "g" : "row",
                     std::string(1, model::axis_names[static_cast<std::size_t>(expression.dimension)])},
                    {"type", type_name(expression.type)}};
        case Kind::operation:
            break;
    }
    json list = json::array({mnemonic(expression.operation)});
    for (const Expression& argument : expression.arguments) list.push_back(to_json(argument));
    return list;
}

Expression applied(const Operation& operation, std::vector<Expression> arguments) {
    Expression result;
    result.kind = Kind::operation;
    result.operation = operation;
    result.type = operation.result;
    result.arguments = std::move(arguments);
    return result;
}

Expression expression_from(const JsonValue& node) {
    return JsonReader().read(node);
}

std::expected<Expression, Error> expression_from_json(const json& node, const std::string& origin) {
    return base::read_json(node, "expression", origin, expression_from);
}

}  // namespace trimtab::analysis
