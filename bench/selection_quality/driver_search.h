// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled driver programs on the cases' launches: how long a decision takes, and what a search loses
// against evaluating every legal block.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "bench/selection_quality/study.h"

namespace trimtab::bench {

// Driver programs of `program` for every kernel of the study, compiled by `compiler` (clang) into one library
// each in `folder`. Errors name the kernel.
[[nodiscard]] std::expected<std::vector<SearchResult>, Error> measure_searches(
    const Study& study, const model::RationalProgram& program, const std::string& compiler,
    const std::string& include_folder);

}  // namespace trimtab::bench
