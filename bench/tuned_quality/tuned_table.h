// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of timed configurations, in slices of what differs in the other columns alone.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "bench/tuned_quality/tuned_kernel.h"
#include "trimtab/error.h"

namespace trimtab::bench {

struct Configuration {
    Values values;  // of TunedKernel::columns
    double ms = 0;  // measured
};

struct Slice {
    Values values;  // of TunedKernel::slice
    std::vector<Configuration> configurations;
};

// In order of their values. Columns that the kernel does not name are left aside.
[[nodiscard]] std::expected<std::vector<Slice>, Error> read_tuned_table(const std::string& path,
                                                                        const TunedKernel& kernel);

// At most `count` of each slice (0: all), evenly spread over its times, the best and the worst among them.
void thin_out(std::vector<Slice>& slices, std::size_t count);

}  // namespace trimtab::bench
