// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/constant_expression.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <string>

namespace trimtab::ptx {
namespace {

constexpr unsigned max_nesting = 64;

double as_double(const Constant& value) {
    switch (value.kind) {
        case Constant::Kind::s64:
            return static_cast<double>(static_cast<std::int64_t>(value.bits));
        case Constant::Kind::u64:
            return static_cast<double>(value.bits);
        case Constant::Kind::f32:
            return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
        case Constant::Kind::f64:
            return std::bit_cast<double>(value.bits);
    }
    return 0;
}

Constant of_double(double value) {
    return {Constant::Kind::f64, std::bit_cast<std::uint64_t>(value)};
}
Constant of_bool(bool value) {
    return {Constant::Kind::s64, value ? 1u : 0u};
}

class Expression {
  public:
    explicit Expression(TokenStream& tokens) : tokens_(tokens) {}

    bool conditional(Constant& out) {
        const Depth depth(*this);
        if (!depth.ok) return tokens_.fail("the constant expression is nested too deep");
        if (!binary(out, 0)) return false;
        if (!tokens_.accept('?')) return true;
        Constant yes, no;
        if (!conditional(yes) || !tokens_.expect(':', "':' of a conditional expression") ||
            !conditional(no)) {
            return false;
        }
        out = (out.is_integer() ? out.bits != 0 : as_double(out) != 0) ? yes : no;
        return true;
    }

  private:
    struct Depth {
        explicit Depth(Expression& owner) : owner(owner), ok(++owner.depth_ <= max_nesting) {}
        ~Depth() { --owner.depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
        Expression& owner;
        bool ok;
    };

    // Precedence as in C; -1: no binary operator.
    static int precedence(const Token& token) {
        if (token.kind != Token::Kind::mark) return -1;
        const std::string_view t = token.text;
        if (t == "||") return 0;
        if (t == "&&") return 1;
        if (t == "|") return 2;
        if (t == "^") return 3;
        if (t == "&") return 4;
        if (t == "==" || t == "!=") return 5;
        if (t == "<" || t == ">" || t == "<=" || t == ">=") return 6;
        if (t == "<<" || t == ">>") return 7;
        if (t == "+" || t == "-") return 8;
        if (t == "*" || t == "/" || t == "%") return 9;
        return -1;
    }

    bool binary(Constant& out, int lowest) {
        if (!unary(out)) return false;
        for (int level = precedence(tokens_.now()); level >= lowest; level = precedence(tokens_.now())) {
            const Token op = tokens_.now();
            tokens_.advance();
            Constant right;
            const Depth depth(*this);
            if (!depth.ok) return tokens_.fail("the constant expression is nested too deep");
            if (!binary(right, level + 1) || !apply(op, out, right)) return false;
        }
        return true;
    }

    bool apply(const Token& op, Constant& left, const Constant& right) {
        if (left.is_integer() && right.is_integer()) return apply_integers(op, left, right);
        const double a = as_double(left), b = as_double(right);
        const std::string_view t = op.text;
        if (t == "+")
            left = of_double(a + b);
        else if (t == "-")
            left = of_double(a - b);
        else if (t == "*")
            left = of_double(a * b);
        else if (t == "/")
            left = of_double(a / b);
        else if (t == "<")
            left = of_bool(a < b);
        else if (t == ">")
            left = of_bool(a > b);
        else if (t == "<=")
            left = of_bool(a <= b);
        else if (t == ">=")
            left = of_bool(a >= b);
        else if (t == "==")
            left = of_bool(a == b);
        else if (t == "!=")
            left = of_bool(a != b);
        else
            return tokens_.fail_at(op, "'" + std::string(t) + "' takes integers");
        return true;
    }

    bool apply_integers(const Token& op, Constant& left, const Constant& right) {
        const bool is_unsigned = left.kind == Constant::Kind::u64 || right.kind == Constant::Kind::u64;
        const std::uint64_t a = left.bits, b = right.bits;
        const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
        const std::string_view t = op.text;
        std::uint64_t bits = 0;
        bool logical = false;
        if (t == "+")
            bits = a + b;
        else if (t == "-")
            bits = a - b;
        else if (t == "*")
            bits = a * b;
        else if (t == "/" || t == "%") {
            if (b == 0) return tokens_.fail_at(op, "division by zero in a constant expression");
            const bool divide = t == "/";
            if (is_unsigned)
                bits = divide ? a / b : a % b;
            else if (sb == -1)
                bits = divide ? 0 - a : 0;
            else
                bits = static_cast<std::uint64_t>(divide ? sa / sb : sa % sb);
        } else if (t == "<<")
            bits = b < 64 ? a << b : 0;
        else if (t == ">>") {
            // The left operand's own sign decides.
            if (left.kind == Constant::Kind::u64)
                bits = b < 64 ? a >> b : 0;
            else
                bits = static_cast<std::uint64_t>(sa >> (b < 64 ? b : 63));
            left.bits = bits;
            return true;
        } else if (t == "&")
            bits = a & b;
        else if (t == "|")
            bits = a | b;
        else if (t == "^")
            bits = a ^ b;
        else {
            logical = true;
            if (t == "&&")
                bits = a != 0 && b != 0;
            else if (t == "||")
                bits = a != 0 || b != 0;
            else if (t == "==")
                bits = a == b;
            else if (t == "!=")
                bits = a != b;
            else if (t == "<")
                bits = is_unsigned ? a < b : sa < sb;
            else if (t == ">")
                bits = is_unsigned ? a > b : sa > sb;
            else if (t == "<=")
                bits = is_unsigned ? a <= b : sa <= sb;
            else
                bits = is_unsigned ? a >= b : sa >= sb;
        }
        left = {is_unsigned && !logical ? Constant::Kind::u64 : Constant::Kind::s64, bits};
        return true;
    }

    bool unary(Constant& out) {
        const Depth depth(*this);
        if (!depth.ok) return tokens_.fail("the constant expression is nested too deep");
        const Token op = tokens_.now();
        if (op.is('+') || op.is('-') || op.is('!') || op.is('~')) {
            tokens_.advance();
            if (!unary(out)) return false;
            if (op.is('-')) {
                if (out.is_integer())
                    out.bits = 0 - out.bits;
                else if (out.kind == Constant::Kind::f32)
                    out.bits ^= 0x80000000u;
                else
                    out.bits ^= std::uint64_t{1} << 63;
            } else if (op.is('!')) {
                out = of_bool(out.is_integer() ? out.bits == 0 : as_double(out) == 0);
            } else if (op.is('~')) {
                if (!out.is_integer()) return tokens_.fail_at(op, "'~' takes an integer");
                out.bits = ~out.bits;
            }
            return true;
        }
        return primary(out);
    }

    bool primary(Constant& out) {
        if (tokens_.now().kind == Token::Kind::number) {
            const std::optional<Constant> value = read_number(tokens_.now().text);
            if (!value)
                return tokens_.fail("'" + std::string(tokens_.now().text.substr(0, 40)) + "' is no number");
            out = *value;
            tokens_.advance();
            return true;
        }
        if (tokens_.accept(std::string_view("WARP_SZ"))) {
            out = {Constant::Kind::s64, 32};
            return true;
        }
        if (!tokens_.accept('(')) return tokens_.fail_expected("a number");
        const bool to_signed = tokens_.now().is(".s64"), to_unsigned = tokens_.now().is(".u64");
        if (to_signed || to_unsigned) {
            tokens_.advance();
            if (!tokens_.expect(')', "')' of a cast") || !unary(out)) return false;
            if (!out.is_integer()) return tokens_.fail("only an integer can be cast");
            out.kind = to_signed ? Constant::Kind::s64 : Constant::Kind::u64;
            return true;
        }
        return conditional(out) && tokens_.expect(')', "')'");
    }

    TokenStream& tokens_;
    unsigned depth_ = 0;
};

std::optional<std::uint64_t> digits(std::string_view spelling, int base) {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(spelling.data(), spelling.data() + spelling.size(), value, base);
    if (error != std::errc{} || end != spelling.data() + spelling.size()) return std::nullopt;
    return value;
}

}  // namespace

Constant Constant::as_f32() const {
    if (kind != Kind::f64) return *this;
    const auto value = static_cast<float>(std::bit_cast<double>(bits));
    return {Kind::f32, std::bit_cast<std::uint32_t>(value)};
}

Constant Constant::as_f64() const {
    if (kind != Kind::f32) return *this;
    const double value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return {Kind::f64, std::bit_cast<std::uint64_t>(value)};
}

std::optional<Constant> read_number(std::string_view spelling) {
    if (spelling.empty()) return std::nullopt;
    const char second = spelling.size() > 1 ? spelling[1] : '\0';
    if (spelling[0] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
        const bool is_f32 = second == 'f' || second == 'F';
        if (spelling.size() != (is_f32 ? 10u : 18u)) return std::nullopt;
        const auto bits = digits(spelling.substr(2), 16);
        if (!bits) return std::nullopt;
        return Constant{is_f32 ? Constant::Kind::f32 : Constant::Kind::f64, *bits};
    }
    const bool is_hex = spelling[0] == '0' && (second == 'x' || second == 'X');
    if (!is_hex && spelling.find_first_of(".eE") != std::string_view::npos) {
        double value = 0;
        const auto [end, error] = std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
        if (end != spelling.data() + spelling.size() || error == std::errc::invalid_argument)
            return std::nullopt;
        if (error != std::errc{}) return std::nullopt;
        return of_double(value);
    }
    bool is_unsigned = false;
    if (spelling.ends_with('U')) {
        is_unsigned = true;
        spelling.remove_suffix(1);
    }
    std::optional<std::uint64_t> value;
    if (is_hex)
        value = digits(spelling.substr(2), 16);
    else if (second == 'b' || second == 'B')
        value = digits(spelling.substr(2), 2);
    else
        value = digits(spelling, spelling.size() > 1 && spelling[0] == '0' ? 8 : 10);
    if (!value) return std::nullopt;
    // A literal that no s64 holds is unsigned.
    if ((*value >> 63) != 0) is_unsigned = true;
    return Constant{is_unsigned ? Constant::Kind::u64 : Constant::Kind::s64, *value};
}

bool starts_constant(const Token& token) {
    return token.kind == Token::Kind::number || token.is('-') || token.is('+') || token.is('~') ||
           token.is('(') || token.is('!');
}

bool parse_constant(TokenStream& tokens, Constant& out) {
    return Expression(tokens).conditional(out);
}

bool parse_count(TokenStream& tokens, std::uint64_t& out, std::string_view what) {
    const Token at = tokens.now();
    Constant value;
    if (!parse_constant(tokens, value)) return false;
    if (!value.is_integer() || value.bits > 0xffffffffu) {
        return tokens.fail_at(at, std::string(what) + " must be a number from 0 to 4294967295");
    }
    out = value.bits;
    return true;
}

}  // namespace trimtab::ptx
