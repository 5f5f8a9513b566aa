// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fits one metric: every form is fitted to the points that are not held out, and the cheapest form whose
// error on the held-out points is near the best is kept.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "driver_gen/basis.h"
#include "driver_gen/fits.h"

namespace trimtab::driver_gen {

struct FitPoint {
    std::span<const double> data;
    std::array<double, 3> box{};
    double value = 0;
    bool held_out = false;
    bool of_few = false;  // profiler::ProfilePoint::counts_alone()
};

// Variables are appended to `variables` as needed. `points` is not empty and every value is finite.
[[nodiscard]] FittedMetric fit_metric(model::Metric metric, std::span<const FitPoint> points,
                                      const FitVariables& fit_variables, const IndexRanges& ranges,
                                      std::vector<Variable>& variables);

// The values that a metric can have at all.
struct MetricRange {
    double least = 0, most = 0;
};
[[nodiscard]] MetricRange metric_range(model::Metric metric);

}  // namespace trimtab::driver_gen
