// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fits cost: the same choices from metrics that were emulated at the true N, block by block.
#pragma once

#include <cstdint>
#include <string>

#include "bench/selection_quality/study.h"

namespace trimtab::bench {

struct ExactOptions {
    std::string store_path;
    // Warp instructions that a launch may cost: a case of which one block costs more is left out.
    std::uint64_t instruction_budget = 4'000'000;
    std::size_t launches = 3;  // of a case
    unsigned threads = 2;
    bool fresh = false;  // measure again what is remembered
};

// Adds rule "exact_metrics", and "fitted_metrics" for the same cases by the same program. What is left out is
// a note.
void add_exact_rule(Study& study, const model::RationalProgram& program, const ExactOptions& options);

}  // namespace trimtab::bench
