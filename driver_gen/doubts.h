// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a metric may be at a launch instead of what its fit says there. Where the profile was extrapolated too far the
// functions that tell it equally well part, and counts come out that no launch has.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "driver_gen/fits.h"

namespace trimtab::driver_gen {

// A metric is at most `times` the sum of `others`, whatever the kernel; and where a block has fewer threads than
// that, so many times.
struct MetricBound {
    model::Metric metric = model::Metric::load_lines;
    double times = 1;
    std::vector<model::Metric> others;
    double least_times = 0;  // and at least this many times
    double none_times = 0;   // what comes out as none is taken for so many times
};
// Those of which every metric has a fit.
[[nodiscard]] std::vector<MetricBound> metric_bounds(const KernelFits& fits);
// What it is of what it belongs to: sectors of requests, partial ones of sectors. None: of instructions alone.
[[nodiscard]] std::optional<MetricBound> range_of(const KernelFits& fits, model::Metric metric);
// The same, where something is known of what comes out as none.
[[nodiscard]] std::optional<MetricBound> none_of(const KernelFits& fits, const FittedMetric& fit);
// A mean of at least one, and at most this; none: it is a count.
[[nodiscard]] std::optional<double> most_of_mean(model::Metric metric);
// Of the launch's shape or footprint, and never none: from 1 to as many as the block's threads, the launch's blocks or the
// sectors of all its warps.
[[nodiscard]] bool has_some(const KernelFits& fits, const FittedMetric& fit);
// A box touches at most what its warps do.
inline const std::vector<model::Metric> touching{model::Metric::load_sectors, model::Metric::store_sectors};
// Of a metric that the contents of the arrays decide, by some that they do not.
[[nodiscard]] bool is_limit(const KernelFits& fits, const MetricBound& bound);

// Counts that come out below 0 by less than one, and this share of a warp's instructions, are 0.
inline constexpr double slack_share = 0.05;
[[nodiscard]] inline double slack_of(double warp_instructions) {
    return 1.0 + slack_share * warp_instructions;
}

// As shares of what the fit says; `times`: how much more it may be, where the contents of the arrays decide it.
struct OtherValues {
    double least = 1, most = 1, times = 1;
};
// By the error on points held out, by what rivals say, and by the bounds. The error: it can be nothing that is known;
// TRIMTAB_DOUBT_... says why.
[[nodiscard]] std::expected<OtherValues, std::uint32_t> other_values(const KernelFits& fits,
                                                                     const FittedMetric& fit,
                                                                     std::span<const double> data, double x,
                                                                     double y, double z);

}  // namespace trimtab::driver_gen
