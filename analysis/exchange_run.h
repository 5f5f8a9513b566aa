// One run of a piece of a kernel by all threads of a block of a given size, with tokens for values: see
// block_exchange.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/exchange_tokens.h"
#include "analysis/turn_values.h"

namespace trimtab::analysis {

// From the head of block `from` to the end of block `to`.
struct ExchangePiece {
    ptx::BlockIndex from = 0, to = 0;
    std::vector<bool> blocks;  // by block: between the two
};

struct ExchangeContext {
    SymbolTable& table;
    const ptx::Module& module;
    const FunctionValues& kernel;
    const TurnValues& turns;
    const TurnParts& parts;
    const LoopIndices& indices;
    const std::set<const ptx::Variable*>& variables;
    Tokens& tokens;
    std::map<ptx::ValueIndex, std::optional<TurnSum>>& sums;
};

constexpr unsigned many_threads = 0xffffffff;

struct ExchangeOutcome {
    struct Touch {
        std::uint64_t cell = 0;
        std::uint32_t instruction = 0;
        bool writes = false;
        friend auto operator<=>(const Touch&, const Touch&) = default;
    };
    using Touches = std::map<Touch, unsigned>;  // by which thread, or many_threads
    // What each value of the piece is at its end for the threads that made it, `unknown` where it is not one;
    // and for the thread of index 0.
    std::map<ptx::ValueIndex, Token> by_all, by_first;
    std::map<std::uint64_t, Token> memory;  // at the end, by address
    // Before the first barrier, and behind the last one.
    Touches head, tail;
};
void add_touch(ExchangeOutcome::Touches& to, const ExchangeOutcome::Touch& touch, unsigned thread);

// Nothing: it is not known what happens, or threads use one place without a barrier between them. `why` says
// more of it.
[[nodiscard]] std::optional<ExchangeOutcome> run_exchange(const ExchangeContext& context,
                                                          const ExchangePiece& piece, unsigned threads,
                                                          std::string& why);

// Where a variable begins in the addresses that tokens have.
[[nodiscard]] std::optional<std::uint64_t> exchange_address(const std::set<const ptx::Variable*>& variables,
                                                            const ptx::Variable* variable);

}  // namespace trimtab::analysis
