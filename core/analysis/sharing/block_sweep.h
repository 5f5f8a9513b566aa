// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a block do together, once for each k from 0 up to a bound: by a loop over the block's threads,
// for (k = threadIdx.x; k < n; k += blockDim.x), or by its first threads, if (threadIdx.x < 64). In both the grid is
// taken to stay as it is, so that threadIdx.x is followed as the global index and blockDim.x as the total.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/values/function_values.h"
#include "core/analysis/values/loop_indices.h"
#include "core/ptx/control_dependence.h"

namespace trimtab::analysis {

struct BlockSweep {
    // Each a test of k, the global index standing for it, that is true from the bound on. One bound.
    std::vector<Symbolic> exits;
    std::optional<std::uint32_t> bound;  // where it is a constant
    bool is_loop = false;                // else the block needs as many threads
    // Else what the loop goes up to, of 64 bits, where arguments set it; width 0: that is not known.
    [[nodiscard]] Symbolic bound_of_arguments(SymbolTable& table) const;
    struct Branch {
        ptx::BlockIndex block = 0;
        std::uint8_t ways = 0;  // that lead to the instruction
        friend bool operator==(const Branch&, const Branch&) = default;
    };
    std::vector<Branch> branches;  // that decide about it
    bool tests_first = false,
         tests_next = false;  // before the first iteration of a loop, and before each other one
};

// The function's values as the threads of one block see them, with threadIdx.x for the index. Nothing: blocks have
// another dimension, or loops have several entries.
[[nodiscard]] std::optional<FunctionValues> values_of_block(SymbolTable& table, const ptx::Function& function,
                                                            std::uint32_t index, const LaunchReads& reads);

// Is the address one that arguments alone set?
[[nodiscard]] bool is_set_by_arguments(const SymbolTable& table, const Symbolic& address);

class BlockSweeps {
  public:
    // `indices`: of the loops over threadIdx.x.
    BlockSweeps(SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices,
                const ptx::ControlDependence& control)
        : table_(table), kernel_(kernel), indices_(indices), control_(control) {}

    // Nothing: the instruction is not shown to be done once for each k, by one thread of a block that all of its
    // threads come to. Branches that `may_skip` says of may leave it out.
    template <typename MaySkip>
    [[nodiscard]] std::optional<BlockSweep> of(std::uint32_t instruction, MaySkip&& may_skip) {
        const ptx::BlockIndex block = kernel_.flow().block_of[instruction];
        if (kernel_.function().body[instruction].guard != ptx::no_index) return std::nullopt;
        BlockSweep sweep;
        sweep.is_loop = kernel_.flow().innermost_loop[block] != ptx::no_index;
        for (const auto& [branch, ways] : control_.deciding(block)) {
            sweep.branches.push_back({branch, ways});
            if (may_skip(branch, ways)) continue;
            if (!add_test(branch, ways, block, sweep)) return std::nullopt;
        }
        return is_whole(block, sweep) ? std::optional(std::move(sweep)) : std::nullopt;
    }
    // The value as k, where the block makes use of it: a polynomial of the global index, which stands for it.
    // Width 0: it is none.
    [[nodiscard]] Symbolic as_index(const Symbolic& value, ptx::BlockIndex block) const;

  private:
    bool add_test(ptx::BlockIndex branch, std::uint8_t ways, ptx::BlockIndex block, BlockSweep& sweep);
    bool is_whole(ptx::BlockIndex block, BlockSweep& sweep) const;
    [[nodiscard]] bool leads(ptx::BlockIndex from, ptx::BlockIndex to, const ptx::Loop& loop) const;
    enum class Sweep : std::uint8_t { of_loop, of_threads };
    [[nodiscard]] bool compares_index_alone(const Symbolic& exits) const;
    [[nodiscard]] std::optional<std::uint32_t> constant_bound(const Symbolic& exits, Sweep kind) const;

    SymbolTable& table_;
    const FunctionValues& kernel_;
    const LoopIndices& indices_;
    const ptx::ControlDependence& control_;
};

}  // namespace trimtab::analysis
