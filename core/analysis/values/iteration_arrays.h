// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small arrays on the stack, in the iterations of strided loops: what an iteration stores before it loads does not come from
// another one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/values/loop_indices.h"

namespace trimtab::analysis {

// A load or store that says that it is of the thread's stack.
[[nodiscard]] bool is_stack_access(const FunctionValues& kernel, std::uint32_t instruction);

class IterationArrays {
  public:
    IterationArrays(const SymbolTable& table, const FunctionValues& kernel, const LoopIndices& indices)
        : table_(table), kernel_(kernel), indices_(indices) {}

    // Is each byte that the load may read stored before it in the same iteration, whatever way is taken?
    [[nodiscard]] bool loads_what_the_iteration_stored(std::uint32_t load) const;

  private:
    struct Bytes {
        const ptx::Variable* variable = nullptr;
        std::uint64_t first = 0, end = 0;
    };
    [[nodiscard]] std::uint32_t innermost_loop(ptx::BlockIndex block) const;
    [[nodiscard]] Bytes bytes_of(std::uint32_t instruction) const;
    [[nodiscard]] bool comes_before(std::uint32_t store, std::uint32_t load, std::uint32_t loop) const;
    [[nodiscard]] bool are_stored(const Bytes& wanted, const std::vector<Bytes>& stored) const;

    const SymbolTable& table_;
    const FunctionValues& kernel_;
    const LoopIndices& indices_;
};

}  // namespace trimtab::analysis
