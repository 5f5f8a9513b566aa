// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether one thread can do the work of several, as far as the code of a kernel tells: nothing in it has threads meet.
#pragma once

#include <array>
#include <cstddef>

#include "llvm/IR/Function.h"
#include "llvm/IR/Intrinsics.h"

namespace trimtab::pass {

struct DimensionRegisters {
    llvm::Intrinsic::ID block_index, grid_size, thread_index, block_size;
};
[[nodiscard]] const std::array<DimensionRegisters, 3>& dimension_registers();

// Which of blockIdx, threadIdx and blockDim are read, by dimension.
struct IndexReads {
    std::array<bool, 3> block_index{}, thread_index{}, block_size{};
};

// False: it has shared memory, barriers, warp operations, waits, clocks, volatile accesses, fences, results of atomics,
// calls, traps, or asks for the grid's size or anything else of the launch. `reads` is filled in where it is true.
[[nodiscard]] bool has_independent_threads(const llvm::Function& kernel, IndexReads& reads);

}  // namespace trimtab::pass
