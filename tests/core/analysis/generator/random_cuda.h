// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels in CUDA C++, of whose code several are made in one run of the compiler.
#pragma once

#include <string>

#include "generator/kernel_text.h"

namespace trimtab::analysis::test {

// `name` and what it needs, after random_cuda_prelude, which clang compiles.
extern const char* const random_cuda_prelude;
[[nodiscard]] std::string random_cuda_kernel(Draw& draw, const std::string& name);
// Of blocks as units of work.
[[nodiscard]] std::string random_block_kernel(Draw& draw, const std::string& name);
// Of blocks that fill tables, or count into bins for the whole grid.
[[nodiscard]] std::string random_table_kernel(Draw& draw, const std::string& name);
// Of blocks or warps that bring a sum of the launch together.
[[nodiscard]] std::string random_sum_kernel(Draw& draw, const std::string& name);

// The same after portable_cuda_prelude, which clang and nvcc compile.
extern const char* const portable_cuda_prelude;
// Of several loops in a row, with values between them and with what the first thread does; over two dimensions.
[[nodiscard]] std::string random_loops_kernel(Draw& draw, const std::string& name);
[[nodiscard]] std::string random_planes_kernel(Draw& draw, const std::string& name);
// Of blocks whose threads bring values together, several times.
[[nodiscard]] std::string random_exchanges_kernel(Draw& draw, const std::string& name);
// Of blocks that set something up in shared memory for a grid-wide index.
[[nodiscard]] std::string random_setups_kernel(Draw& draw, const std::string& name);
// Of one question to the proof each.
[[nodiscard]] std::string random_near_miss(Draw& draw, const std::string& name);

}  // namespace trimtab::analysis::test
