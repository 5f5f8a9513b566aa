// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/doubts.h"

#include <algorithm>

#include "trimtab/driver.h"

namespace trimtab::driver_gen {

using model::Metric;

namespace {

#include "driver_gen/box_geometry.inc"
#include "driver_gen/other_values.inc"

// A lane's access lies in one sector and takes a pass of its own at worst; a line has four sectors; what a warp does takes an instruction.
std::vector<MetricBound> all_bounds() {
    std::vector<MetricBound> all{
        {Metric::load_lines, 32, {Metric::load_requests}, 1, 1},
        {Metric::load_sectors, 32, {Metric::load_requests}, 1, 1},
        {Metric::load_lines, 1, {Metric::load_sectors}},
        {Metric::load_sectors, 4, {Metric::load_lines}},
        {Metric::store_lines, 32, {Metric::store_requests, Metric::atomic_requests}, 1, 1},
        {Metric::store_sectors, 32, {Metric::store_requests, Metric::atomic_requests}, 1, 1},
        {Metric::store_lines, 1, {Metric::store_sectors}},
        {Metric::store_sectors, 4, {Metric::store_lines}},
        {Metric::shared_wavefronts, 32, {Metric::shared_requests}, 1, 1},
        // All of them, or none: half.
        {Metric::store_partial_sectors, 1, {Metric::store_sectors}, 0, 0.5},
    };
    for (const Metric part :
         {Metric::fp32_instructions, Metric::fp64_instructions, Metric::integer_instructions,
          Metric::special_function_instructions, Metric::control_instructions, Metric::load_requests,
          Metric::store_requests, Metric::atomic_requests, Metric::local_requests, Metric::shared_requests,
          Metric::barriers})
        all.push_back({part, 1, {Metric::warp_instructions}});
    return all;
}

}  // namespace

std::vector<MetricBound> metric_bounds(const KernelFits& fits) {
    std::vector<MetricBound> bounds = all_bounds();
    const auto is_missing = [&](Metric metric) { return fits.find(metric) == nullptr; };
    std::erase_if(bounds, [&](const MetricBound& bound) {
        return is_missing(bound.metric) || std::ranges::any_of(bound.others, is_missing);
    });
    return bounds;
}

std::optional<MetricBound> range_of(const KernelFits& fits, Metric metric) {
    for (MetricBound& bound : metric_bounds(fits))
        if (bound.metric == metric && bound.others[0] != Metric::warp_instructions) return std::move(bound);
    return std::nullopt;
}

std::optional<MetricBound> none_of(const KernelFits& fits, const FittedMetric& fit) {
    if (!(fit.most > 0)) return std::nullopt;
    auto range = range_of(fits, fit.metric);
    if (range && range->none_times == 0) return std::nullopt;
    return range;
}

std::optional<double> most_of_mean(Metric metric) {
    // Of what a warp's instructions do not wait for, more than what it has in flight at any time hides nothing.
    constexpr double most_in_flight = 16;
    if (metric == Metric::active_lanes) return 32;
    if (metric == Metric::instruction_parallelism) return most_in_flight;
    return std::nullopt;
}

bool has_some(const KernelFits& fits, const FittedMetric& fit) {
    if (fit.least < 1) return false;
    if (fit.metric == Metric::footprint_sectors)
        return fits.find(Metric::active_warps) != nullptr &&
               std::ranges::all_of(touching, [&](Metric metric) { return fits.find(metric) != nullptr; });
    return fit.metric == Metric::active_blocks || fit.metric == Metric::active_warps;
}

bool is_limit(const KernelFits& fits, const MetricBound& bound) {
    return fits.find(bound.metric)->data_dependent && std::ranges::none_of(bound.others, [&](Metric metric) {
               return fits.find(metric)->data_dependent;
           });
}

// The order of these operations is that of the printed C (c_doubts.cpp): change both or neither.
std::expected<OtherValues, std::uint32_t> other_values(const KernelFits& fits, const FittedMetric& fit,
                                                       std::span<const double> data, double x, double y,
                                                       double z) {
    const auto evaluate = [&](Metric metric) { return fits.evaluate(metric, data, x, y, z); };
    const double slack = slack_of(evaluate(Metric::warp_instructions)), value = evaluate(fit.metric),
                 threads = x * y * z;
    const auto sum_of = [&](const std::vector<Metric>& metrics) {
        double sum = evaluate(metrics[0]);
        for (std::size_t i = 1; i < metrics.size(); ++i) sum = sum + evaluate(metrics[i]);
        return sum;
    };
    OtherValues others{.least = 1, .most = 1, .times = trimtab_may_be_times};
    const std::vector<MetricBound> bounds = metric_bounds(fits);
    if (trimtab_is_endless(fits.fitted(fit.pieces, data, x, y, z)))
        return std::unexpected(TRIMTAB_DOUBT_ERROR);
    if (has_some(fits, fit)) {
        double last = 0;
        if (fit.metric == Metric::active_blocks)
            last = trimtab_all_boxes(fits.ranges.evaluate(data).data(), x, y, z);
        else if (fit.metric == Metric::active_warps)
            last = trimtab_warps(x, y, z);
        else
            last = evaluate(Metric::active_warps) * sum_of(touching);
        if (!trimtab_is_some(fits.fitted(fit.pieces, data, x, y, z)) &&
            !trimtab_add_range(value, 1, last, &others.least, &others.most))
            return std::unexpected(TRIMTAB_DOUBT_NO_COUNT);
    } else if (!trimtab_is_count(fits.fitted(fit.pieces, data, x, y, z), slack)) {
        const auto range = range_of(fits, fit.metric);
        const auto most = most_of_mean(fit.metric);
        if (!range && !most) return std::unexpected(TRIMTAB_DOUBT_NO_COUNT);
        const double sum = range ? sum_of(range->others) : 1;
        const double first = most ? 1 : range->least_times * sum,
                     last = most ? *most : trimtab_times(range->times, threads) * sum;
        if (!trimtab_add_range(value, first, last, &others.least, &others.most))
            return std::unexpected(TRIMTAB_DOUBT_NO_COUNT);
    }
    if (!fit.exact) others.most = std::max(others.most, 1 + fit.quality.held_out_max_error);
    for (const std::vector<Piece>& rival : fit.rivals) {
        const double other = std::clamp(fits.fitted(rival, data, x, y, z), fit.least, fit.most);
        if (!trimtab_add_rival(value, other, slack, &others.least, &others.most))
            return std::unexpected(TRIMTAB_DOUBT_RIVALS);
    }
    for (const MetricBound& bound : bounds) {
        if (bound.metric != fit.metric) continue;
        const double sum = sum_of(bound.others);
        trimtab_add_bound(value, trimtab_times(bound.times, threads) * sum, &others.least);
        if (is_limit(fits, bound))
            trimtab_add_limit(value, trimtab_times(bound.times, threads) * sum, &others.times);
    }
    return others;
}

}  // namespace trimtab::driver_gen
