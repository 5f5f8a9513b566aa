// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of the GPU's counters tell low-level metrics, and what they tell.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metrics.h"

namespace trimtab::profiler::cupti {

// What a kernel can do at all: what it cannot need not be counted, and each group of counters may cost a further
// pass over the launch.
struct CodeUse {
    bool atomics = false, shared = false, local = false;
};

// Their names, as CUPTI has them from Volta on. Sums over the whole GPU: ratios would cost passes of their own.
[[nodiscard]] std::vector<std::string> counters_for(const CodeUse& use);

// What of the metrics the counters tell of a launch with so many active warps. Instructions are ptxas's there, and PTX's
// in profiles, so that of instructions only the lanes are taken; what no counter has (rounds of waiting, parallelism,
// footprints, sectors written in part, lines) is not in it.
[[nodiscard]] std::map<model::Metric, double> metrics_of(const std::map<std::string, double>& counters,
                                                         double active_warps);

// The mean of those samples that lie within Tukey's fences: one and a half times the distance of the quartiles beyond
// them. At least one sample.
[[nodiscard]] double fenced_mean(std::vector<double> samples);

}  // namespace trimtab::profiler::cupti
