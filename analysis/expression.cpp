// Expressions as JSON and as text for people.
#include "analysis/expression.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/operation.h"

namespace trimtab::analysis {
namespace {

using nlohmann::json;
using Kind = Expression::Kind;

// Far above what kernels have, and low enough for recursion over a hostile file.
constexpr unsigned max_depth = 200;
constexpr unsigned max_nodes = 20000;

constexpr std::string_view dimension_names = "xyz";

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
    if (node.kind == Kind::operation && node.operation.starts_with("cvt."))
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
                return {fmt::format("g.{}", dimension_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::block_index:
                return {
                    fmt::format("blockIdx.{}", dimension_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::block_size:
                return {fmt::format("b{}", dimension_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::extent:
                return {fmt::format("e{}", dimension_names[static_cast<std::size_t>(node.dimension)])};
            case Kind::parameter: {
                std::string name = node.parameter < names_.size() ? names_[node.parameter]
                                                                  : fmt::format("param_{}", node.parameter);
                if (node.offset != 0) name += fmt::format("+{}", node.offset);
                return {name};
            }
            case Kind::operation:
                break;
        }
        const auto operation = decode_operation(node.operation);
        if (!operation || operation->arity != node.arguments.size()) return {node.operation};
        return write(*operation, node.arguments);
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
    explicit JsonReader(const std::string& origin) : origin_(origin) {}

    std::expected<Expression, Error> read(const json& node, unsigned depth = 0) {
        if (depth > max_depth || ++nodes_ > max_nodes) return fail("expression is nested too deep");
        if (node.is_array()) return operation(node, depth);
        if (node.is_object()) return leaf(node);
        return fail("expression is neither a list nor a leaf: " + excerpt(node));
    }

  private:
    std::unexpected<Error> fail(std::string message) const {
        return std::unexpected(Error{.message = std::move(message), .file = origin_});
    }
    static std::string excerpt(const json& node) {
        std::string text = node.dump(-1, ' ', false, json::error_handler_t::replace);
        if (text.size() > 60) text = text.substr(0, 57) + "...";
        return text;
    }

    std::expected<Expression, Error> operation(const json& node, unsigned depth) {
        if (node.empty() || !node[0].is_string())
            return fail("expression list does not begin with an operator: " + excerpt(node));
        Expression result;
        result.kind = Kind::operation;
        result.operation = node[0].get<std::string>();
        const auto operation = decode_operation(result.operation);
        if (!operation) return fail("unknown operator '" + result.operation + "' in expression");
        if (node.size() != operation->arity + 1)
            return fail(fmt::format("operator '{}' takes {} operands, not {}", result.operation,
                                    operation->arity, node.size() - 1));
        result.type = operation->result;
        for (unsigned i = 0; i < operation->arity; i++) {
            auto operand = read(node[i + 1], depth + 1);
            if (!operand) return operand;
            if (width_bits(operand->type) != width_bits(operation->operand_type(i)))
                return fail(fmt::format("operand {} of '{}' has type {}", i + 1, result.operation,
                                        type_name(operand->type)));
            result.arguments.push_back(std::move(*operand));
        }
        return result;
    }

    std::expected<Expression, Error> leaf(const json& node) const {
        const auto type_entry = node.find("type");
        const auto type = type_entry != node.end() && type_entry->is_string()
                              ? type_from_name(type_entry->get_ref<const std::string&>())
                              : std::nullopt;
        if (!type || width_bits(*type) == 0)
            return fail("expression leaf has no integer type: " + excerpt(node));
        Expression result;
        result.type = *type;
        if (const auto value = node.find("value"); value != node.end()) return constant(result, *value);
        for (const char* key : {"g", "row"}) {
            const auto index = node.find(key);
            if (index == node.end()) continue;
            const std::string name = index->is_string() ? index->get<std::string>() : "";
            const std::size_t at = name.size() == 1 ? dimension_names.find(name) : std::string::npos;
            if (at == std::string::npos || width_bits(*type) < 32)
                return fail("expression has no such index: " + excerpt(node));
            result.kind = key == std::string_view("g") ? Kind::global_index : Kind::block_index;
            result.dimension = static_cast<Dimension>(at);
            return result;
        }
        for (const char* key : {"block", "extent"}) {
            const auto dimension = node.find(key);
            if (dimension == node.end()) continue;
            const std::string name = dimension->is_string() ? dimension->get<std::string>() : "";
            const std::size_t at = name.size() == 1 ? dimension_names.find(name) : std::string::npos;
            if (at == std::string::npos) return fail("expression has no such dimension: " + excerpt(node));
            result.kind = key == std::string_view("block") ? Kind::block_size : Kind::extent;
            result.dimension = static_cast<Dimension>(at);
            return result;
        }
        const auto parameter = node.find("param"), offset = node.find("offset");
        const bool has_offset = offset != node.end();
        if (parameter == node.end() || !is_small(*parameter) || (has_offset && !is_small(*offset)) ||
            width_bits(*type) < 8)
            return fail("expression leaf is none of value, g and param: " + excerpt(node));
        result.kind = Kind::parameter;
        result.parameter = parameter->get<std::uint32_t>();
        result.offset = has_offset ? offset->get<std::uint32_t>() : 0;
        return result;
    }

    static bool is_small(const json& number) {
        return number.is_number_unsigned() && number.get<std::uint64_t>() <= UINT32_MAX;
    }

    std::expected<Expression, Error> constant(Expression result, const json& value) const {
        const unsigned width = width_bits(result.type);
        if (!value.is_number_integer()) return fail("expression constant is no integer: " + excerpt(value));
        const std::uint64_t bits = value.is_number_unsigned()
                                       ? value.get<std::uint64_t>()
                                       : static_cast<std::uint64_t>(value.get<std::int64_t>());
        result.bits = truncate_bits(bits, width);
        const bool negative = !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
        const bool fits = negative ? static_cast<std::uint64_t>(sign_extend(result.bits, width)) == bits
                                   : result.bits == bits;
        if (!fits)
            return fail(fmt::format("expression constant {} does not fit {}", excerpt(value),
                                    type_name(result.type)));
        return result;
    }

    const std::string& origin_;
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
                     std::string(1, dimension_names[static_cast<std::size_t>(expression.dimension)])},
                    {"type", type_name(expression.type)}};
        case Kind::global_index:
        case Kind::block_index:
            return {{expression.kind == Kind::global_index ? "g" : "row",
                     std::string(1, dimension_names[static_cast<std::size_t>(expression.dimension)])},
                    {"type", type_name(expression.type)}};
        case Kind::operation:
            break;
    }
    json list = json::array({expression.operation});
    for (const Expression& argument : expression.arguments) list.push_back(to_json(argument));
    return list;
}

std::expected<Expression, Error> expression_from_json(const json& node, const std::string& origin) {
    return JsonReader(origin).read(node);
}

}  // namespace trimtab::analysis
