// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report says of a kernel that a GPU's counters are known of, beside what it says of every kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advice/bottleneck.h"
#include "tools/advice/counters/units.h"

namespace trimtab::advice {

struct CountedFigure {
    std::string_view section, label, metric;  // as Nsight Compute names them; the label may be the metric
    Dimension dimension = Dimension::count;
    double value = 0;
};

struct Measured {
    bool has_time = false;
    bool is_labelled = false;  // enough was counted to say what bounds the kernel
    double model_ns = 0;       // by the model with these counts; 0: it could not be asked
    std::optional<double> achieved_occupancy;
    DerivedMetrics metrics;
    std::optional<Bound> plain;  // by issue and memory alone, as Gehrke's rule first has it
    std::vector<CountedFigure> figures;
    struct Stall {
        std::string_view reason;  // "Long Scoreboard"
        double share = 0;         // of the cycles between two instructions of a warp
    };
    std::vector<Stall> stalls;  // the largest first
    // Rules that were left out: as metrics are lacking, and as they need the code.
    std::vector<std::string> lacking_rules, code_rules;
    std::vector<std::string> lacking_metrics;
};

}  // namespace trimtab::advice
