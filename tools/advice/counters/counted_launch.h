// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch that a profiler counted on a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "trimtab/driver.h"

namespace trimtab::advice {

struct CountedLaunch {
    std::string kernel;               // as the profiler names it, mangled or demangled
    std::string device;               // likewise; empty: not told
    unsigned compute_capability = 0;  // 75: 7.5; 0: not told
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    // In SI units, percentages as they are; by the names of counter_names().
    std::map<std::string_view, double> values;
};

}  // namespace trimtab::advice
