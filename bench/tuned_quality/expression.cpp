// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/tuned_quality/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace trimtab::bench {

namespace {

using Value = std::expected<std::int64_t, std::string>;

class Parser {
  public:
    Parser(std::string_view text, const Lookup& lookup) : text_(text), lookup_(lookup) {}

    Value whole() {
        Value value = sum(0);
        if (value && at_ != text_.size()) return bad();
        return value;
    }

  private:
    static constexpr int most_depth = 64;

    [[nodiscard]] Value bad() const {
        return std::unexpected(fmt::format("\"{}\" cannot be read at \"{}\"", text_, text_.substr(at_)));
    }
    char next() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(char c) {
        if (next() != c) return false;
        ++at_;
        next();
        return true;
    }

    Value sum(int depth) {
        if (depth > most_depth) return bad();
        Value left = product(depth);
        while (left) {
            const bool adds = take('+');
            if (!adds && !take('-')) break;
            const Value right = product(depth);
            if (!right) return right;
            if (adds ? __builtin_add_overflow(*left, *right, &*left)
                     : __builtin_sub_overflow(*left, *right, &*left))
                return std::unexpected(fmt::format("\"{}\" is too large", text_));
        }
        return left;
    }

    Value product(int depth) {
        Value left = factor(depth);
        while (left) {
            const bool multiplies = take('*');
            if (!multiplies && !take('/')) break;
            const Value right = factor(depth);
            if (!right) return right;
            if (!multiplies) {
                left = divide(*left, *right);
            } else if (__builtin_mul_overflow(*left, *right, &*left)) {
                return std::unexpected(fmt::format("\"{}\" is too large", text_));
            }
        }
        return left;
    }

    [[nodiscard]] Value divide(std::int64_t a, std::int64_t b) const {
        if (b <= 0 || a < 0) return std::unexpected(fmt::format("\"{}\" divides {} by {}", text_, a, b));
        return a / b;
    }

    Value factor(int depth) {
        if (take('(')) {
            Value value = sum(depth + 1);
            if (value && !take(')')) return bad();
            return value;
        }
        const char c = next();
        if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
            if (error != std::errc{}) return bad();
            at_ = static_cast<std::size_t>(end - text_.data());
            next();
            return value;
        }
        std::size_t end = at_;
        while (end < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
            ++end;
        const std::string_view name = text_.substr(at_, end - at_);
        if (name.empty()) return bad();
        if (name == "ceil_div") {
            at_ = end;
            return ceil_div(depth);
        }
        const auto value = lookup_(name);
        if (!value) return std::unexpected(fmt::format("\"{}\" names {}, which is no column", text_, name));
        at_ = end;
        next();
        return *value;
    }

    Value ceil_div(int depth) {
        if (!take('(')) return bad();
        const Value a = sum(depth + 1);
        if (!a) return a;
        if (!take(',')) return bad();
        const Value b = sum(depth + 1);
        if (!b) return b;
        if (!take(')')) return bad();
        const Value whole = divide(*a, *b);
        if (!whole) return whole;
        return *whole + (*a % *b != 0 ? 1 : 0);
    }

    std::string_view text_;
    const Lookup& lookup_;
    std::size_t at_ = 0;
};

}  // namespace

std::expected<std::int64_t, std::string> evaluate_expression(std::string_view text, const Lookup& lookup) {
    return Parser(text, lookup).whole();
}

}  // namespace trimtab::bench
