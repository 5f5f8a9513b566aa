// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the instructions of a piece of a kernel compute in each thread of a block, as tokens. What threads tell
// each other, through memory or as warps, is the run's: see exchange_run.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/analysis/sharing/exchange_tokens.h"
#include "core/analysis/values/labels.h"

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
    LabelsInDimension labels;
    const IterationParts& parts;
    const LoopIndices& indices;
    const std::set<const ptx::Variable*>& variables;
    Tokens& tokens;
    std::map<ptx::ValueIndex, std::optional<IterationSum>>& sums;
    // Where it is set, whatever a thread has for itself of that width is a part of such a sum, and no iterations are asked.
    std::optional<IterationSum> any_part = std::nullopt;
    // Of an instruction, which threads did it with what in its last operand.
    std::uint32_t watched = ptx::no_index;
};

// Where a variable begins in the addresses that tokens have; they are this far apart.
inline constexpr std::uint64_t exchange_variable_bytes = 1 << 20;
[[nodiscard]] std::optional<std::uint64_t> exchange_address(const std::set<const ptx::Variable*>& variables,
                                                            const ptx::Variable* variable);

class ExchangeValues {
  public:
    ExchangeValues(const ExchangeContext& context, const ExchangePiece& piece, unsigned threads);

    [[nodiscard]] Token value(ptx::ValueIndex index, unsigned thread);
    void set(ptx::ValueIndex index, unsigned thread, Token token) {
        values_[thread * value_count() + index] = token;
    }
    // Is the instruction's guard true? Nothing: that is not known.
    [[nodiscard]] std::optional<bool> condition(std::uint32_t instruction, unsigned thread);
    // Numbers are cut to `width` bits unless that is 0.
    [[nodiscard]] Token operand(std::uint32_t instruction, std::size_t operand, unsigned width,
                                unsigned thread);

    // The instruction's results in a thread that does it; and in one that does not: registers stay what they were.
    void compute(std::uint32_t instruction, unsigned thread);
    void skip(std::uint32_t instruction, unsigned thread, bool is_known);

    // What each value of the piece is for the threads that made it, `unknown` where it is not one; and for the
    // thread of index 0.
    void write_outcome(std::map<ptx::ValueIndex, Token>& by_all,
                       std::map<ptx::ValueIndex, Token>& by_first) const;

  private:
    std::size_t value_count() const { return ssa_.values.size(); }
    bool is_inside(ptx::ValueIndex index) const;
    // Made before the piece, once for each time that it is run.
    Token from_outside(ptx::ValueIndex index, unsigned thread);
    std::optional<Token> part(ptx::ValueIndex index, unsigned thread);
    // Of the thread's number and that of threads alone.
    std::optional<std::uint64_t> number(const Symbolic& value, unsigned thread) const;
    std::optional<std::uint64_t> number(const Atom& atom, unsigned thread) const;
    template <typename Visit>
    void for_each_result(std::uint32_t i, Visit&& visit) const {
        const ptx::Instruction& made = function_.body[i];
        for (std::uint32_t d = 0; d < made.destination_count; d++) {
            const std::size_t elements = std::max<std::size_t>(1, made.operands[d].elements.size());
            for (std::uint32_t e = 0; e < elements; e++)
                if (const ptx::ValueIndex result = ssa_.definition(i, d, e); result != ptx::no_index)
                    visit(result);
        }
    }
    bool has_no_state(std::uint32_t instruction) const;
    Token computed(std::uint32_t instruction, ptx::ValueIndex result, unsigned thread);
    std::optional<Token> chosen_of_equals(std::uint32_t instruction,
                                          const std::vector<Token>& operands) const;
    std::optional<Token> sum_of_zeros(std::uint32_t instruction, const std::vector<Token>& operands);
    bool is_in_inner_loop(ptx::BlockIndex block) const;
    std::optional<std::uint64_t> calculated(std::uint32_t instruction, unsigned thread);

    const ExchangeContext& c_;
    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    const ptx::Ssa& ssa_;
    Tokens& tokens_;
    const ExchangePiece& piece_;
    unsigned threads_;
    std::vector<Token> values_;  // by thread, then by value
};

}  // namespace trimtab::analysis
