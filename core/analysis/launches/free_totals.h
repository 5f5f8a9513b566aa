// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a kernel with grid-stride loops may be launched with any number of threads.
#pragma once

#include <array>
#include <cstdint>

#include "core/analysis/launches/description.h"

namespace trimtab::analysis {

// By dimension: with these arguments, every number of threads from 1 to `most_threads` (of the launch as
// written, or more) leaves the same results as the `extent` of the launch as written. In none of those whose
// total is read, or in all of them. Where the grid stays, the threads are those of a block, and the extent
// counts blocks. `written_threads`: of the launch as written, or of one of its blocks where the grid stays.
[[nodiscard]] std::array<bool, 3> free_totals(const KernelDescription& description, ArgumentBytes arguments,
                                              const std::array<std::uint64_t, 3>& extent,
                                              const std::array<std::uint64_t, 3>& most_threads,
                                              const std::array<std::uint64_t, 3>& written_threads);

// Does no thread touch memory of `apart` that another one of the launch touches too, where one of them
// writes it? `extent` as above.
[[nodiscard]] bool indices_are_apart(const KernelDescription& description, ArgumentBytes arguments,
                                     const std::array<std::uint64_t, 3>& extent);

// How many indices the loops of each dimension work on, over all threads; 0 where there are none, or where it
// is not known.
[[nodiscard]] std::array<std::uint64_t, 3> loop_iterations(const KernelDescription& description,
                                                           ArgumentBytes arguments);

}  // namespace trimtab::analysis
