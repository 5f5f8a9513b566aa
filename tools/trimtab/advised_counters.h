// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab advise --counters: advice from what a profiler counted on a GPU.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "tools/advice/counters/counted_launch.h"
#include "tools/trimtab/advised_records.h"
#include "tools/trimtab/benched_launches.h"
#include "trimtab/error.h"

namespace trimtab::tools {

struct CountersQuestion {
    std::string file;     // of `ncu --csv`, or of `trimtab profile --counters`
    std::string device;   // empty: as the file says
    std::string program;  // whose kernels they are, for source lines; empty: not known
    std::vector<std::string> compiler_flags;
};
[[nodiscard]] std::expected<AdvisedRun, Error> advice_of_counters(const CountersQuestion& question);

// Launches as written, of those that `trimtab profile --counters` has counted.
[[nodiscard]] std::vector<advice::CountedLaunch> counted_launches(const Bench& bench);

}  // namespace trimtab::tools
