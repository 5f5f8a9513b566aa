// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run of a piece of a kernel by all threads of a block of a given size, with tokens for values: see
// block_exchange.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/sharing/exchange_values.h"

namespace trimtab::analysis {

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
    std::uint64_t dynamic_bytes = 0;  // of dynamic shared memory, from its beginning to the last that is used
    std::vector<std::pair<unsigned, Token>>
        watched;  // by thread that did the instruction, as often as it did
    // Before the first barrier, and behind the last one.
    Touches head, tail;
};
void add_touch(ExchangeOutcome::Touches& to, const ExchangeOutcome::Touch& touch, unsigned thread);

// Nothing: it is not known what happens, or threads use one place without a barrier between them. `why` says
// more of it.
[[nodiscard]] std::optional<ExchangeOutcome> run_exchange(const ExchangeContext& context,
                                                          const ExchangePiece& piece, unsigned threads,
                                                          std::string& why);

}  // namespace trimtab::analysis
