// Random kernels in CUDA C++, of whose code several are made in one run of the compiler.
#pragma once

#include <string>

#include "generator/kernel_text.h"

namespace trimtab::analysis::test {

// `name` and what it needs, after random_cuda_prelude.
extern const char* const random_cuda_prelude;
[[nodiscard]] std::string random_cuda_kernel(Draw& draw, const std::string& name);
// Of blocks as units of work.
[[nodiscard]] std::string random_block_kernel(Draw& draw, const std::string& name);
// Of blocks that fill tables, or count into bins for the whole grid.
[[nodiscard]] std::string random_table_kernel(Draw& draw, const std::string& name);

}  // namespace trimtab::analysis::test
