// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/sharing/exchange_tokens.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace trimtab::analysis {
namespace {

template <typename Float, typename Bits>
std::optional<std::uint64_t> chosen_float(const IterationSum& sum, std::uint64_t a, std::uint64_t b) {
    const auto left = std::bit_cast<Float>(static_cast<Bits>(a)),
               right = std::bit_cast<Float>(static_cast<Bits>(b));
    const auto is_plain = [](Float value) {
        return std::isnormal(value) || std::isinf(value) || value == Float{0};
    };
    // Of two zeros the sign counts.
    if (!is_plain(left) || !is_plain(right) || left == right) return std::nullopt;
    return (left < right) == (sum.op == Operator::min) ? a : b;
}

// The constant that two come to.
std::optional<std::uint64_t> folded(const IterationSum& sum, std::uint64_t a, std::uint64_t b) {
    if (a == b && sum.is_idempotent()) return a;
    if (sum.float_type == ptx::Type::f32) return chosen_float<float, std::uint32_t>(sum, a, b);
    if (sum.float_type == ptx::Type::f64) return chosen_float<double, std::uint64_t>(sum, a, b);
    const auto type = integer_type(sum.is_signed, sum.width);
    const auto operation = type ? operation_of(sum.op, *type) : std::nullopt;
    if (!operation) {
        const auto bits = bits_type(sum.width);
        const auto plain = bits ? operation_of(sum.op, *bits) : std::nullopt;
        if (!plain) return std::nullopt;
        return analysis::apply(*plain, std::array{a, b});
    }
    return analysis::apply(*operation, std::array{a, b});
}

}  // namespace

Tokens::Tokens() : data_(1) {}

Token Tokens::intern(std::vector<std::uint64_t> key, Data data) {
    const auto [at, is_new] = indices_.emplace(std::move(key), static_cast<Token>(data_.size()));
    if (is_new) data_.push_back(data);
    return at->second;
}

Token Tokens::number(std::uint64_t bits) {
    return intern({1, bits}, {.kind = Kind::number, .bits = bits, .sum = {}});
}

Token Tokens::same_for_all(ptx::ValueIndex value, bool rounded) {
    return intern({2, value}, {.kind = Kind::same, .bits = value, .sum = {}, .rounded = rounded});
}

Token Tokens::own_part(ptx::ValueIndex value, unsigned thread, bool rounded) {
    Sum sum{.of = value, .threads = {}, .constant = {}, .rounded = rounded};
    sum.threads.set(thread);
    return sum_token(sum);
}

Token Tokens::sum_token(Sum sum) {
    sum.is_full = sum.threads.count() == threads_;
    std::vector<std::uint64_t> key{3, sum.of, sum.constant.has_value(), sum.constant.value_or(0),
                                   sum.is_full};
    if (!sum.is_full)
        for (std::size_t first = 0; first < sum.threads.size(); first += 64)
            key.push_back(((sum.threads >> first) & ThreadSet(~0ull)).to_ullong());
    return intern(std::move(key), {.kind = Kind::sum, .bits = 0, .sum = sum});
}

Token Tokens::made(std::uint32_t instruction, unsigned result, std::span<const Token> operands) {
    std::vector<std::uint64_t> key{4, instruction, result};
    bool rounded = false;
    for (const Token operand : operands) {
        if (!is_fixed(operand)) return unknown;
        key.push_back(operand);
        rounded |= is_rounded(operand);
    }
    return intern(std::move(key), {.kind = Kind::made, .bits = 0, .sum = {}, .rounded = rounded});
}

std::optional<Token> Tokens::joined(const IterationSum& sum, Token a, Token b) {
    if (as_sum(a) == nullptr) std::swap(a, b);
    const Sum* left = as_sum(a);
    if (left == nullptr) return std::nullopt;
    Sum result = *left;
    if (result.is_full) result.threads = ThreadSet().set() >> (result.threads.size() - threads_);
    std::optional<std::uint64_t> other;
    if (const Sum* right = as_sum(b)) {
        if (right->of != result.of) return std::nullopt;
        const ThreadSet threads =
            right->is_full ? ThreadSet().set() >> (right->threads.size() - threads_) : right->threads;
        if (!sum.is_idempotent() && (result.threads & threads).any()) return std::nullopt;
        result.threads |= threads;
        other = right->constant;
    } else {
        other = as_number(b);
        if (!other) return std::nullopt;
        // What every part has in it already, or what changes nothing.
        if (sum.is_idempotent() && sum.start && folded(sum, *sum.start, *other) == sum.start) other.reset();
        if (other && sum.float_type == ptx::Type::none && *other == sum.identity) other.reset();
        if (other && sum.is_rounded_zero(*other)) other.reset();
        if (other && sum.is_rounded()) return std::nullopt;
    }
    if (other && result.constant) {
        result.constant = folded(sum, *result.constant, *other);
        if (!result.constant) return std::nullopt;
    } else if (other) {
        result.constant = other;
    }
    return sum_token(result);
}

std::optional<std::uint64_t> Tokens::as_number(Token token) const {
    const Data& data = data_[token];
    return data.kind == Kind::number ? std::optional(data.bits) : std::nullopt;
}

const Tokens::Sum* Tokens::as_sum(Token token) const {
    return data_[token].kind == Kind::sum ? &data_[token].sum : nullptr;
}

bool Tokens::is_fixed(Token token) const {
    const Data& data = data_[token];
    return data.kind == Kind::sum ? data.sum.is_full : data.kind != Kind::unknown;
}

}  // namespace trimtab::analysis
