// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/annotations/annotation_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/analysis/launches/operation.h"
#include "core/analysis/launches/parameters.h"
#include "core/model/launch_configuration.h"

namespace trimtab::analysis {
namespace {

constexpr unsigned max_depth = 100;
constexpr std::size_t max_repeated = 1000;

struct BinaryOperator {
    std::string_view sign;
    unsigned precedence;
    std::string_view operation;  // on s64, or on pred
    bool takes_predicates = false;
};
// Two-character signs first; C's precedence.
constexpr std::array<BinaryOperator, 18> binary_operators = {{
    {"||", 1, "or.pred", true},
    {"&&", 2, "and.pred", true},
    {"==", 6, "setp.eq.s64"},
    {"!=", 6, "setp.ne.s64"},
    {"<=", 7, "setp.le.s64"},
    {">=", 7, "setp.ge.s64"},
    {"<<", 8, "shl.b64"},
    {">>", 8, "shr.s64"},
    {"|", 3, "or.b64"},
    {"^", 4, "xor.b64"},
    {"&", 5, "and.b64"},
    {"<", 7, "setp.lt.s64"},
    {">", 7, "setp.gt.s64"},
    {"+", 9, "add.s64"},
    {"-", 9, "sub.s64"},
    {"*", 10, "mul.lo.s64"},
    {"/", 10, "div.s64"},
    {"%", 10, "rem.s64"},
}};

class Parser {
  public:
    Parser(std::string_view text, const KernelDescription& kernel) : text_(text), kernel_(kernel) {}

    std::expected<ParsedAnnotation, AnnotationFault> run() {
        do {
            clause();
        } while (error_.empty() && accept(","));
        if (error_.empty() && peek() != '\0') fail("what follows is not understood");
        check_extents();
        if (!error_.empty()) return std::unexpected(AnnotationFault{error_, fault_});
        return std::move(result_);
    }

  private:
    void fail(const std::string& what) {
        if (!error_.empty()) return;
        std::string rest(text_.substr(std::min(at_, text_.size())));
        if (rest.size() > 30) rest = rest.substr(0, 27) + "...";
        fault_ = std::min(at_, text_.size());
        error_ = rest.empty() ? what + ", at the end" : fmt::format("{}, at '{}'", what, rest);
        at_ = text_.size();
    }

    // Quotation marks may stand around clauses.
    char peek() {
        while (at_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 ||
                                      text_[at_] == '"' || text_[at_] == '\\'))
            at_++;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool accept(std::string_view sign) {
        if (peek() == '\0' || !text_.substr(at_).starts_with(sign)) return false;
        at_ += sign.size();
        return true;
    }
    void expect(std::string_view sign) {
        if (!accept(sign)) fail(fmt::format("'{}' is missing", sign));
    }
    std::string_view word() {
        if (peek() == '\0') return {};
        const auto is_part = [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        };
        const std::size_t first = at_;
        if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return {};
        while (at_ < text_.size() && is_part(text_[at_])) at_++;
        return text_.substr(first, at_ - first);
    }

    void clause() {
        peek();
        const std::size_t start = at_;
        const std::string_view name = word();
        if (name == "leave_alone") {
            result_.leave_alone = true;
            return;
        }
        if (name == "reassociate") {
            result_.reassociate = true;
            return;
        }
        if (name != "block" && name != "grid" && name != "dynamic_shared" && name != "sizes") {
            at_ = start;
            return fail(
                "there is no such clause: block, grid, dynamic_shared, sizes, reassociate and leave_alone "
                "are "
                "known");
        }
        expect("(");
        unsigned count = 0;
        do {
            count++;
            if (name == "block") result_.block.push_back(predicate(expression()));
            if (name == "grid") grid();
            if (name == "dynamic_shared") result_.dynamic_shared = number(expression());
            if (name == "sizes")
                if (const auto index = parameter_index(word())) result_.sizes.push_back(*index);
        } while (error_.empty() && accept(","));
        expect(")");
        if (name == "grid" && result_.grid.size() > 3) fail("a grid has at most three dimensions");
        if (name == "dynamic_shared" && count > 1) fail("dynamic_shared takes one expression");
    }

    static bool reads_extent(const Expression& expression, std::size_t dimension) {
        return (expression.kind == Expression::Kind::extent &&
                static_cast<std::size_t>(expression.dimension) == dimension) ||
               std::ranges::any_of(expression.arguments, [dimension](const Expression& argument) {
                   return reads_extent(argument, dimension);
               });
    }
    // Where the grid stays as written, the number of threads is not that of the launch as written.
    void check_extents() {
        for (std::size_t d = 0; d < result_.grid_stays.size(); d++) {
            if (!result_.grid_stays[d]) continue;
            const auto reads = [d](const Expression& expression) { return reads_extent(expression, d); };
            if (std::ranges::any_of(result_.block, reads) || std::ranges::any_of(result_.grid, reads) ||
                (result_.dynamic_shared && reads(*result_.dynamic_shared)))
                fail(fmt::format("e{} is not known where the grid is as_written in {}", model::axis_names[d],
                                 model::axis_names[d]));
        }
    }

    void grid() {
        peek();
        const std::size_t start = at_;
        if (word() == "as_written" && !has_parameter("as_written")) {
            if (result_.grid.size() < result_.grid_stays.size())
                result_.grid_stays[result_.grid.size()] = true;
            result_.grid.push_back(constant(1));
            return;
        }
        at_ = start;
        result_.grid.push_back(number(expression()));
    }

    static Expression constant(std::int64_t value) {
        Expression leaf;
        leaf.type = ptx::Type::s64;
        leaf.bits = static_cast<std::uint64_t>(value);
        return leaf;
    }
    static Expression node(std::string_view operation, std::vector<Expression> arguments) {
        return applied(decode_operation(operation).value(), std::move(arguments));
    }
    static Expression predicate(Expression value) {
        if (value.type == ptx::Type::pred) return value;
        return node("setp.ne.s64", {std::move(value), constant(0)});
    }
    static Expression number(Expression value) {
        if (value.type != ptx::Type::pred) return value;
        return node("selp.b64", {constant(1), constant(0), std::move(value)});
    }

    Expression expression() {
        Expression condition = binary(1);
        if (!accept("?")) return condition;
        Expression yes = number(expression());
        expect(":");
        Expression no = number(expression());
        return node("selp.b64", {std::move(yes), std::move(no), predicate(std::move(condition))});
    }

    const BinaryOperator* next_operator() {
        if (peek() == '\0') return nullptr;
        for (const BinaryOperator& op : binary_operators)
            if (text_.substr(at_).starts_with(op.sign)) return &op;
        return nullptr;
    }

    Expression binary(unsigned least) {
        Expression left = unary();
        for (;;) {
            const BinaryOperator* op = next_operator();
            if (op == nullptr || op->precedence < least || !error_.empty()) return left;
            at_ += op->sign.size();
            Expression right = binary(op->precedence + 1);
            if (op->takes_predicates) {
                left = node(op->operation, {predicate(std::move(left)), predicate(std::move(right))});
                continue;
            }
            right = number(std::move(right));
            if (op->sign == "<<" || op->sign == ">>") right = node("cvt.u32.s64", {std::move(right)});
            left = node(op->operation, {number(std::move(left)), std::move(right)});
        }
    }

    Expression unary() {
        if (++depth_ > max_depth) fail("it is nested too deep");
        Expression result = constant(0);
        if (!error_.empty()) return result;
        if (accept("!")) {
            result = node("not.pred", {predicate(unary())});
        } else if (accept("-")) {
            result = node("neg.s64", {number(unary())});
        } else if (accept("~")) {
            result = node("not.b64", {number(unary())});
        } else if (accept("(")) {
            result = expression();
            expect(")");
        } else if (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
            result = literal();
        } else {
            result = named();
        }
        depth_--;
        return result;
    }

    Expression literal() {
        int base = 10;
        if (accept("0x") || accept("0X")) base = 16;
        std::int64_t value = 0;
        const char* first = text_.data() + at_;
        const auto [end, code] = std::from_chars(first, text_.data() + text_.size(), value, base);
        if (code != std::errc()) fail("this is no 64-bit integer");
        at_ += static_cast<std::size_t>(end - first);
        while (at_ < text_.size() && std::string_view("uUlL").contains(text_[at_])) at_++;
        if (at_ < text_.size() &&
            (text_[at_] == '.' || std::isalnum(static_cast<unsigned char>(text_[at_])) != 0))
            fail("numbers are whole");
        return constant(value);
    }

    Expression named() {
        const std::size_t start = at_;
        const std::string_view name = word();
        if (name.empty()) {
            fail("an expression is missing");
            return constant(0);
        }
        if (accept("(")) return call(name, start);
        if (name.size() == 2 && model::axis_names.contains(name[1]) && (name[0] == 'b' || name[0] == 'e') &&
            !has_parameter(name)) {
            Expression leaf;
            leaf.kind = name[0] == 'b' ? Expression::Kind::block_size : Expression::Kind::extent;
            leaf.dimension = static_cast<Dimension>(model::axis_names.find(name[1]));
            leaf.type = ptx::Type::s64;
            return leaf;
        }
        if (name == "variant" && !has_parameter(name)) {
            if (kernel_.variant) return constant(kernel_.variant->value);
            at_ = start;
            fail("the kernel is none of several variants: TRIMTAB_VARIANTS names them");
            return constant(0);
        }
        const auto index = parameter_index(name);
        if (!index) return constant(0);
        const KernelParameter& parameter = kernel_.parameters[*index];
        auto type = scalar_type(parameter.type);
        if (!type) type = type_from_name(parameter.ptx_type);
        if (parameter.is_pointer || !type || width_bits(*type) / 8 != parameter.size) {
            at_ = start;
            fail("this parameter is no integer");
            return constant(0);
        }
        return argument(*index, 0, *type);
    }

    static Expression argument(std::uint32_t index, std::uint32_t offset, ptx::Type type) {
        Expression leaf;
        leaf.kind = Expression::Kind::parameter;
        leaf.parameter = index;
        leaf.offset = offset;
        leaf.type = type;
        if (width_bits(type) == 64) {
            leaf.type = ptx::Type::s64;
            return leaf;
        }
        return node(fmt::format("cvt.s64.{}", type_name(type)), {leaf});
    }

    std::vector<Expression> arguments(std::string_view function, std::size_t count) {
        std::vector<Expression> result;
        do result.push_back(number(expression()));
        while (error_.empty() && accept(","));
        expect(")");
        if (error_.empty() && result.size() != count) fail(fmt::format("'{}' takes {}", function, count));
        result.resize(count);
        return result;
    }

    // Functions that repeat an operand grow with every level of nesting.
    static std::size_t size(const Expression& expression) {
        std::size_t nodes = 1;
        for (const Expression& argument : expression.arguments) nodes += size(argument);
        return nodes;
    }
    Expression rounded_up(Expression a, Expression b) {
        if (size(b) > max_repeated) fail("it is too long");
        if (!error_.empty()) return constant(0);
        Expression less = node("sub.s64", {b, constant(1)});
        return node("div.s64", {node("add.s64", {std::move(a), std::move(less)}), std::move(b)});
    }

    Expression call(std::string_view name, std::size_t start) {
        if (name == "min" || name == "max") return node(fmt::format("{}.s64", name), arguments(name, 2));
        if (name == "ceil_div") {
            auto parts = arguments(name, 2);
            return rounded_up(std::move(parts[0]), std::move(parts[1]));
        }
        if (name == "ceil") {
            Expression inside = std::move(arguments(name, 1)[0]);
            if (inside.kind != Expression::Kind::operation || inside.operation.op != Operator::div) {
                at_ = start;
                fail("ceil takes a division");
                return inside;
            }
            return rounded_up(std::move(inside.arguments[0]), std::move(inside.arguments[1]));
        }
        if (name == "ispow2") {
            const Expression value = std::move(arguments(name, 1)[0]);
            if (size(value) > max_repeated) fail("it is too long");
            if (!error_.empty()) return constant(0);
            Expression low = node("and.b64", {value, node("sub.s64", {value, constant(1)})});
            return node("and.pred", {node("setp.gt.s64", {value, constant(0)}),
                                     node("setp.eq.s64", {std::move(low), constant(0)})});
        }
        // s32(config, 8): four bytes of a struct argument.
        if (const auto type = type_from_name(name); type && width_bits(*type) >= 8) {
            const auto index = parameter_index(word());
            expect(",");
            const Expression offset = expression();
            expect(")");
            if (!index || !error_.empty()) return constant(0);
            if (offset.kind != Expression::Kind::constant ||
                offset.bits + width_bits(*type) / 8 > kernel_.parameters[*index].size) {
                at_ = start;
                fail("the parameter has no such bytes");
                return constant(0);
            }
            return argument(*index, static_cast<std::uint32_t>(offset.bits), *type);
        }
        at_ = start;
        fail(
            "there is no such function: min, max, ceil, ceil_div, ispow2 and s32(parameter, offset) are "
            "known");
        return constant(0);
    }

    bool has_parameter(std::string_view name) const {
        return std::ranges::any_of(kernel_.parameters, [&](const auto& p) { return p.name == name; });
    }
    std::optional<std::uint32_t> parameter_index(std::string_view name) {
        for (const KernelParameter& parameter : kernel_.parameters)
            if (parameter.name == name) return parameter.index;
        // What a parameter is called where no source tells its name.
        for (const KernelParameter& parameter : kernel_.parameters)
            if (fmt::format("param_{}", parameter.index) == name) return parameter.index;
        at_ -= std::min(at_, name.size());
        std::vector<std::string_view> names;
        for (const KernelParameter& parameter : kernel_.parameters) names.push_back(parameter.name);
        fail(fmt::format("the kernel has no parameter '{}', but {}", name, fmt::join(names, ", ")));
        return std::nullopt;
    }

    std::string_view text_;
    const KernelDescription& kernel_;
    std::size_t at_ = 0;
    unsigned depth_ = 0;
    std::string error_;
    std::size_t fault_ = 0;
    ParsedAnnotation result_;
};

}  // namespace

std::expected<ParsedAnnotation, AnnotationFault> parse_annotation(std::string_view text,
                                                                  const KernelDescription& kernel) {
    return Parser(text, kernel).run();
}

bool states_reassociate(std::string_view text) {
    unsigned depth = 0;
    std::string clause;
    const auto is_named = [&] { return clause == "reassociate"; };
    for (const char c : text) {
        depth += c == '(' ? 1u : 0u;
        depth -= c == ')' && depth > 0 ? 1u : 0u;
        if (c == ',' && depth == 0) {
            if (is_named()) return true;
            clause.clear();
        } else if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '"' && c != '\\') {
            clause += c;
        }
    }
    return is_named();
}

}  // namespace trimtab::analysis
