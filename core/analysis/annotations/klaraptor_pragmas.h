// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KLARAPTOR's word for a kernel's data size, as its section V-A has it in sources:
//
//     #pragma kernel_info_size_param_idx_Sample = 1;
//
// The second argument of the kernel Sample is a size: the annotation sizes(n), if that argument's name is n. Its other
// pragma (kernel_info_dim_) says what Trimtab finds in the kernel, and is passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/launches/kernel_sources.h"

namespace trimtab::analysis {

// For the kernels of `sources` that are defined in `file`, whose text is `text`, and have no annotation. Returns what is
// wrong with a pragma, a line each.
[[nodiscard]] std::vector<std::string> add_klaraptor_pragmas(KernelSources& sources, const std::string& file,
                                                             std::string_view text);

// The same for every file that the kernels are defined in.
[[nodiscard]] std::vector<std::string> add_klaraptor_pragmas(KernelSources& sources);

}  // namespace trimtab::analysis
