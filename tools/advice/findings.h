// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules, asked of one launch: whoever counted it.
#pragma once

#include <vector>

#include "tools/advice/advise.h"

namespace trimtab::advice {

struct Found {
    Finding finding;
    WhatIf what_if;
    double least_gain = 1;
};
// What the model says of every rule that can be asked.
[[nodiscard]] std::vector<Found> find(const Subject& subject, const KernelFacts& facts);
// Those that are worth their while, the largest gain first; after them those of which emulation says that the kernel
// gets slower. Their ranges are widened by what predicted ratios are off by.
[[nodiscard]] std::vector<Finding> ranked(std::vector<Found> found);
// Where half of the time is saved that `gain` saves.
[[nodiscard]] double half_of(double gain);

}  // namespace trimtab::advice
