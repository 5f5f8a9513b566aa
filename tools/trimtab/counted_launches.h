// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters that a GPU told of a program's launches, put in the place of what the emulator counted of the same ones.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/model/metrics.h"
#include "profiler/observed_profile.h"
#include "tools/trimtab/benched_launches.h"

namespace trimtab::tools {

// A metric at all launches that both have counted.
struct CountedMetric {
    model::Metric metric{};
    std::size_t points = 0;
    double emulator_mean = 0, gpu_mean = 0;
    double mean_difference = 0, most_difference = 0;  // shares of the larger count
};

struct CountedKernel {
    std::string chip;          // as CUPTI names it; empty: the GPU counted no launch of the kernel
    std::size_t launches = 0;  // of those given, that the GPU has counted
    std::vector<CountedMetric> metrics;
};

// `counted`: of `trimtab profile`'s run on the GPU. Launches are the same that have the same D, grid and block. Samples of a
// counter are averaged within the quartiles' fences; what no counter tells stays the emulator's.
[[nodiscard]] CountedKernel take_counters(const Bench& counted,
                                          const analysis::KernelDescription& description,
                                          std::vector<profiler::ObservedLaunch>& launches);

[[nodiscard]] nlohmann::ordered_json to_json(const CountedKernel& kernel);
[[nodiscard]] std::string to_text(const CountedKernel& kernel);

}  // namespace trimtab::tools
