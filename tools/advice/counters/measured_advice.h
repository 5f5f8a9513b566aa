// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice from a GPU's counters alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/advice/advise.h"
#include "tools/advice/counters/counted_launch.h"

namespace trimtab::advice {

// Launches of one kernel, grid and block are one shape, with the mean of each counter. Facts are by CountedLaunch::kernel; where
// there are none, the name is all that is known of the code.
[[nodiscard]] Advice advise_counted(const std::vector<CountedLaunch>& launches, const model::Device& device,
                                    const std::map<std::string, KernelFacts>& facts = {});

// Its parameters are of types that CUDA C++ itself has: the name tells of each whether it is, or leads to, a double.
[[nodiscard]] bool tells_parameter_types(std::string_view demangled);

}  // namespace trimtab::advice
