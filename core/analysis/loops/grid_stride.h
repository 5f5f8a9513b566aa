// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grid-stride loops: for (i = g; i < n; i += total). Every i below n is worked on once whatever the total is,
// so that the launch may have any number of threads. Proved where each iteration depends on i alone, and no iteration
// touches memory that another iteration writes.
//
// Block-stride loops are the same within one block: for (k = tid; k < n; k += ntid). In a dimension whose
// grid stays as written, tid is followed as the global index and ntid as the total, and what a thread does
// may depend on ctaid and nctaid at will, for no block changes them. Every k below n is then worked on once
// for every block index, by whichever thread. Iterations of one block may have been one thread's, in order, and
// are shown apart; those of different blocks were different threads' before, and are so after.
#pragma once

#include <array>
#include <expected>
#include <set>
#include <string>
#include <vector>

#include "core/analysis/sharing/strided_access.h"
#include "core/analysis/sharing/warp_bytes.h"
#include "core/analysis/values/function_values.h"
#include "core/checker/certificate.h"

namespace trimtab::analysis {

// In both, the global index of a dimension stands for the index of that dimension's loop: g, g + total ...
struct StridedLoop {
    Dimension dimension = Dimension::x;
    // Tests of one bound: before the loop, at its head, at its end. Where one is true, no iteration is made.
    std::vector<Symbolic> exits;
    std::uint32_t instruction = 0;  // that ends the loop
    bool is_of_rows = false;        // over blocks: the index is that of a block, and tests stand at its end
    ptx::BlockIndex header = ptx::no_index;
    bool widens = false;  // conversions of its index to 64 bits are among what the launch looks at
};
struct GridStrides {
    std::vector<StridedLoop> loops;
    std::vector<StridedAccess> accesses;  // none: no order of iterations can matter
    // Iterations touch memory at places that are not known: the launch as written must have a thread for each.
    bool need_one_iteration_a_thread = false;
    // What the block must be for its threads to tell each other the same, and the most threads then; 0: any.
    BlockWidth block = BlockWidth::any;
    std::uint32_t most_threads = 0;
    std::optional<WarpBytes> dynamic_shared;
    // How threads tell each other values, and by which instructions.
    std::vector<checker::Exchange> exchanges;
    std::set<std::uint32_t> exchanging;
};

// The fault says what ties the kernel to the total, of the dimensions in `reads_total`.
// Where `orders_nothing`, barriers were taken out: what is read past the coherent caches counts as well.
[[nodiscard]] std::expected<GridStrides, Fault> grid_strides(SymbolTable& table, const ptx::Module& module,
                                                             const FunctionValues& kernel,
                                                             const std::array<bool, 3>& reads_total,
                                                             bool orders_nothing,
                                                             bool may_reassociate = false,
                                                             const BesideIterations& beside = {});

// All that the threads of a kernel touch, what is read past the coherent caches too. The fault is at what is
// not known, and matters. In loops of dimensions in `reads_total` the global index stands for the loop's.
[[nodiscard]] std::expected<std::vector<StridedAccess>, Fault> all_accesses(
    SymbolTable& table, const FunctionValues& kernel, const std::array<bool, 3>& reads_total = {},
    const BesideIterations& beside = {});

}  // namespace trimtab::analysis
