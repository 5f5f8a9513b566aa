// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands for the values of a block's threads while it is found out what they tell each other.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis/values/iteration_sums.h"

namespace trimtab::analysis {

using Token = std::uint32_t;
using ThreadSet = std::bitset<1024>;

// Equal tokens stand for equal values, in blocks of any number of threads where they are fixed.
class Tokens {
  public:
    static constexpr Token unknown = 0;

    struct Sum {
        ptx::ValueIndex of = 0;  // what each thread has
        ThreadSet threads;       // whose are in it
        bool is_full = false;    // all of the block's are
        std::optional<std::uint64_t> constant;
        bool rounded = false;  // equal in blocks of other sizes but for how it is rounded
    };

    Tokens();
    void set_threads(unsigned threads) { threads_ = threads; }

    Token number(std::uint64_t bits);
    Token same_for_all(ptx::ValueIndex value, bool rounded = false);
    Token own_part(ptx::ValueIndex value, unsigned thread, bool rounded = false);
    // What a pure instruction makes of fixed values; unknown of others.
    Token made(std::uint32_t instruction, unsigned result, std::span<const Token> operands);
    // Two parts, or a part and a constant, by the operation of the sum; nothing where that is none.
    std::optional<Token> joined(const IterationSum& sum, Token a, Token b);

    [[nodiscard]] std::optional<std::uint64_t> as_number(Token token) const;
    [[nodiscard]] const Sum* as_sum(Token token) const;
    // Is it of what threads had for themselves?
    [[nodiscard]] bool is_news(Token token) const {
        return data_[token].kind == Kind::sum || data_[token].kind == Kind::made;
    }
    // The same in blocks of any number of threads, and whether but for how it is rounded.
    [[nodiscard]] bool is_fixed(Token token) const;
    [[nodiscard]] bool is_rounded(Token token) const {
        return data_[token].kind == Kind::sum ? data_[token].sum.rounded : data_[token].rounded;
    }

  private:
    enum class Kind : std::uint8_t { unknown, number, same, sum, made };
    struct Data {
        Kind kind = Kind::unknown;
        std::uint64_t bits = 0;
        Sum sum;
        bool rounded = false;
    };
    Token intern(std::vector<std::uint64_t> key, Data data);
    Token sum_token(Sum sum);

    unsigned threads_ = 0;
    std::map<std::vector<std::uint64_t>, Token> indices_;
    std::vector<Data> data_;
};

}  // namespace trimtab::analysis
