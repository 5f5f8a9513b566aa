// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/driver_choice.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/analysis/launches/legal_blocks.h"
#include "driver_gen/doubts.h"
#include "tools/trimtab/driver_search.h"

namespace trimtab::tools {
namespace {

thread_local const RankedLaunch* asked = nullptr;

// As trimtab_is_alike.
bool is_alike(const RankedLaunch& launch, const ScaledMetric& scaled, double ns, double scaled_ns) {
    const double start = launch.device->values.launch_overhead_ns;
    const double ratio = (scaled_ns - start) / (ns - start);
    if (!(ns > start)) return false;
    bool known = false;
    for (const std::uint32_t width : {64u, 256u}) {
        const trimtab_dim3 block{width, 1, 1};
        const auto before = predicted_ns(launch, block), after = predicted_ns(launch, block, scaled);
        if (!before || !(*before > start) || !after) continue;
        const double expected = ratio * (*before - start);
        if (std::abs(*after - start - expected) > 0.1 * expected) return false;
        known = true;
    }
    return known;
}

// By how much the time changes, as trimtab_change.
double change(const RankedLaunch& launch, trimtab_dim3 block, double ns, const ScaledMetric& scaled) {
    if (scaled.factor == 1) return 0;
    const auto other = predicted_ns(launch, block, scaled);
    return !other || !(*other > 0) ? 1 : std::max(*other / ns, ns / *other) - 1;
}

}  // namespace

Judgement judge(const RankedLaunch& launch, trimtab_dim3 block, double ns) {
    const auto data = data_of(launch, block);
    if (!data || !(ns > 0)) return {};
    const std::vector<model::Metric> used = launch.program->metrics_used();
    std::uint32_t doubt = launch.fits->outside(*data);
    const std::uint32_t other_number = launch.fits->other_number(*data);
    double squares = 0, largest = 0;
    std::vector<driver_gen::OtherValues> values;
    const std::vector<driver_gen::FittedMetric>& metrics = launch.fits->metrics;
    const auto is_read = [&](std::size_t i) {
        return std::ranges::find(used, metrics[i].metric) != used.end();
    };
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        values.emplace_back();
        if (!is_read(i)) continue;
        const auto others = driver_gen::other_values(
            *launch.fits, *launch.fits->find(metrics[i].metric, *data), *data, block.x, block.y, block.z);
        if (!others) return {.uncertain = doubt != 0 ? doubt : TRIMTAB_DOUBT(others.error(), i)};
        values[i] = *others;
    }
    std::size_t worst = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (!is_read(i)) continue;
        const driver_gen::FittedMetric& fit = metrics[i];
        const driver_gen::OtherValues* const others = &values[i];
        if (fit.data_dependent || other_number != 0) {
            const ScaledMetric many{.metric = fit.metric, .factor = others->times};
            const auto other = predicted_ns(launch, block, many);
            const bool leans =
                !other || (std::abs(ns - *other) > 0.25 * ns && !is_alike(launch, many, ns, *other));
            if (leans && doubt == 0)
                doubt = other_number != 0 ? other_number : TRIMTAB_DOUBT(TRIMTAB_DOUBT_ARRAYS, i);
        }
        const double more =
            std::max(change(launch, block, ns, {.metric = fit.metric, .factor = others->most}),
                     change(launch, block, ns, {.metric = fit.metric, .factor = others->least}));
        squares += more * more;
        if (more > largest) worst = i;
        largest = std::max(largest, more);
    }
    const double error = std::sqrt(squares);
    if (!(error <= 0.5) && doubt == 0) doubt = TRIMTAB_DOUBT(TRIMTAB_DOUBT_ERROR, worst);
    return {.relative_error = error, .uncertain = doubt};
}

namespace {

// The launch that a call of the driver program's functions is about.
RankedLaunch launch_with(const double* data, double dynamic_shared_bytes) {
    RankedLaunch launch = *asked;
    launch.data = {data, asked->data.size()};
    launch.dynamic_shared_bytes = dynamic_shared_bytes;
    trimtab_dim3& extent = launch.limits.extent;
    for (std::size_t i = 0; i < launch.fits->data_names.size(); ++i) {
        const std::string& name = launch.fits->data_names[i];
        if (name == "extent.x") extent.x = static_cast<std::uint32_t>(data[i]);
        if (name == "extent.y") extent.y = static_cast<std::uint32_t>(data[i]);
        if (name == "extent.z") extent.z = static_cast<std::uint32_t>(data[i]);
    }
    return launch;
}

int evaluate(const trimtab_device* /*device*/, const trimtab_image* /*image*/, const double* data,
             trimtab_dim3 block, double dynamic_shared_bytes, trimtab_prediction* out) {
    const RankedLaunch launch = launch_with(data, dynamic_shared_bytes);
    const auto ns = predicted_ns(launch, block);
    if (!ns) return -1;
    const Judgement judgement = judge(launch, block, *ns);
    out->predicted_ns = *ns;
    out->relative_error = judgement.relative_error;
    out->uncertain = judgement.uncertain;
    out->metric_count = 0;
    return 0;
}

int select(const trimtab_device* /*device*/, const trimtab_image* /*image*/, const double* data,
           const trimtab_limits* limits, double dynamic_shared_bytes, std::uint32_t count,
           trimtab_choice* out) {
    RankedLaunch launch = launch_with(data, dynamic_shared_bytes);
    launch.limits = *limits;
    const trimtab_context context{.launch = launch};
    const auto search = std::make_unique<trimtab_search>();
    search->context = &context;
    search->limits = &launch.limits;
    trimtab_search_blocks(search.get());
    count = std::min<std::uint32_t>(count, search->tried_count);
    for (std::uint32_t i = 0; i < count; ++i) {
        out[i] = *trimtab_found(search.get(), i);
        const Judgement judgement = judge(launch, out[i].block, out[i].predicted_ns);
        out[i].relative_error = judgement.relative_error;
        out[i].uncertain = judgement.uncertain;
    }
    return static_cast<int>(count);
}

}  // namespace

std::optional<RankedBlock> driver_choice(const RankedLaunch& launch) {
    const trimtab_context context{.launch = launch};
    const auto search = std::make_unique<trimtab_search>();
    search->context = &context;
    search->limits = &launch.limits;
    trimtab_search_blocks(search.get());
    if (search->tried_count == 0) return std::nullopt;
    const trimtab_choice* chosen = trimtab_found(search.get(), 0);
    return RankedBlock{.block = chosen->block, .ns = chosen->predicted_ns};
}

InterpretedDriver::InterpretedDriver(const RankedLaunch& launch) {
    asked = &launch;
    driver_.abi = TRIMTAB_DRIVER_ABI;
    driver_.struct_bytes = sizeof driver_;
    driver_.evaluate = evaluate;
    driver_.select = select;
    for (std::size_t i = 0; i < launch.fits->data_names.size(); ++i) {
        data_names_.push_back(launch.fits->data_names[i].c_str());
        least_.push_back(launch.fits->profiled[i].least);
        most_.push_back(launch.fits->profiled[i].most);
    }
    // The names are literals.
    for (const driver_gen::FittedMetric& fit : launch.fits->metrics)
        metric_names_.push_back(model::name(fit.metric).data());
    driver_.data_count = static_cast<std::uint32_t>(data_names_.size());
    driver_.metric_count = static_cast<std::uint32_t>(metric_names_.size());
    driver_.data_names = data_names_.data();
    driver_.metric_names = metric_names_.data();
    driver_.profiled_least = least_.data();
    driver_.profiled_most = most_.data();
}

InterpretedDriver::~InterpretedDriver() {
    asked = nullptr;
}

}  // namespace trimtab::tools
