// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a kernel that stride by the number of threads, and the registers that they carry as functions of
// their index.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "core/analysis/values/function_values.h"

namespace trimtab::analysis {

// The registers that a grid-stride loop carries from iteration to iteration, as functions of its index. Each loop
// strides in one dimension at most.
class LoopIndices {
  public:
    LoopIndices(SymbolTable& table, const FunctionValues& kernel, const std::array<bool, 3>& dimensions);

    struct Strided {
        std::uint32_t loop = 0;  // in the control flow's list
        Dimension dimension = Dimension::x;
    };
    [[nodiscard]] const std::vector<Strided>& loops() const { return loops_; }
    // Loops of a block over rows, of dimensions whose grid stays: for (r = blockIdx; r < n; r += gridDim).
    // The block's index stands for r in them.
    [[nodiscard]] const std::vector<Strided>& rows() const { return rows_; }
    // With loop indices in place of the registers that follow them, of the loops that the basic block is in.
    // Behind a loop its register holds where a thread's iterations ended, which no index of another loop stands
    // for: so there is no such function without a place.
    [[nodiscard]] Symbolic with_indices(const Symbolic& value, ptx::BlockIndex at) const;
    // The register as a function of the index of a loop over threads; null: it is none there.
    [[nodiscard]] const Symbolic* function_at(AtomIndex phi, ptx::BlockIndex at) const;
    // What must be true of every index of the loop, and of the first one past its bound of each thread, for
    // these functions to hold: sums with the index that do not wrap. The global index stands for the loop's.
    [[nodiscard]] std::vector<Symbolic> taken_for_granted(std::uint32_t loop) const;

  private:
    enum class Over : std::uint8_t { threads, rows };
    bool stride(std::uint32_t loop, Dimension dimension, Over over);
    [[nodiscard]] std::optional<AtomIndex> own_atom(ptx::ValueIndex phi) const;
    [[nodiscard]] Symbolic own_part(ptx::ValueIndex phi, ptx::ValueIndex incoming) const;
    [[nodiscard]] std::optional<Symbolic> first_value(const ptx::Loop& loop, ptx::ValueIndex phi) const;
    [[nodiscard]] std::map<AtomIndex, Symbolic> functions_at(ptx::BlockIndex block) const;
    // Registers with functions of a loop's index.
    struct Candidate {
        ptx::ValueIndex phi = 0;
        Symbolic function;
        std::vector<Symbolic> granted;
    };
    using Candidates = std::map<AtomIndex, Candidate>;
    void keep_followers(const ptx::Loop& loop, const std::map<AtomIndex, Symbolic>& to_next,
                        Candidates& candidates, Dimension dimension, Over over) const;
    [[nodiscard]] Symbolic with_next_index(const Symbolic& value, Dimension dimension, Over over) const;
    [[nodiscard]] Symbolic unwrapped(const Symbolic& value, Dimension dimension,
                                     std::vector<Symbolic>& granted) const;

    SymbolTable* table_;
    const FunctionValues* kernel_;
    std::vector<Strided> loops_, rows_;
    std::map<AtomIndex, Symbolic> functions_;
    // Of rows, in their loops alone: where a thread leaves such a loop may be its own affair.
    std::map<AtomIndex, Symbolic> row_functions_;
    std::map<AtomIndex, std::uint32_t> loop_of_;              // of the functions' registers
    std::map<std::uint32_t, std::vector<Symbolic>> granted_;  // by loop
};

}  // namespace trimtab::analysis
