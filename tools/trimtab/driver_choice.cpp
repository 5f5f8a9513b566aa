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

// By how much the time changes, as trimtab_change.
double change(const RankedLaunch& launch, trimtab_dim3 block, double ns, const ScaledMetric& scaled) {
    if (scaled.factor == 1) return 0;
    const auto other = predicted_ns(launch, block, {&scaled, 1});
    return !other || !(*other > 0) ? 1 : std::max(*other / ns, ns / *other) - 1;
}

}  // namespace

Judgement judge(const RankedLaunch& launch, trimtab_dim3 block, double ns) {
    const auto data = data_of(launch, block);
    if (!data || !(ns > 0)) return {};
    const std::vector<model::Metric> used = launch.program->metrics_used();
    std::uint32_t doubt = launch.fits->outside(*data), leans_on = 0;
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
            const auto other = predicted_ns(launch, block, {&many, 1});
            if ((!other || std::abs(ns - *other) > 0.25 * ns) && leans_on == 0)
                leans_on = other_number != 0 ? other_number : TRIMTAB_DOUBT(TRIMTAB_DOUBT_ARRAYS, i);
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
    return {.relative_error = error, .uncertain = doubt != 0 ? doubt : leans_on};
}

namespace {

// As trimtab_side.
struct Side {
    const RankedLaunch* launch = nullptr;
    trimtab_dim3 block{};
    std::vector<ScaledMetric> most;  // by metric that the model reads
};

std::optional<Side> side_of(const RankedLaunch& launch, trimtab_dim3 block) {
    const auto data = data_of(launch, block);
    if (!data) return std::nullopt;
    Side side{.launch = &launch, .block = block, .most = {}};
    const bool has_other_number = launch.fits->other_number(*data) != 0;
    const std::vector<model::Metric> used = launch.program->metrics_used();
    for (const driver_gen::FittedMetric& fit : launch.fits->metrics) {
        if (std::ranges::find(used, fit.metric) == used.end()) continue;
        const auto others = driver_gen::other_values(*launch.fits, *launch.fits->find(fit.metric, *data),
                                                     *data, block.x, block.y, block.z);
        if (!others) return std::nullopt;
        side.most.push_back(
            {.metric = fit.metric, .factor = fit.data_dependent || has_other_number ? others->times : 1});
    }
    return side;
}

// As trimtab_is_in_order: where metrics `from` to `end` are as many as they may be.
bool is_in_order(const Side& first, const Side& second, std::size_t from, std::size_t end) {
    const auto scaled_ns = [&](const Side& side) {
        return predicted_ns(*side.launch, side.block, std::span(side.most).subspan(from, end - from));
    };
    const auto first_ns = scaled_ns(first), second_ns = scaled_ns(second);
    return first_ns && second_ns && *first_ns <= 1.1 * *second_ns;
}

}  // namespace

bool keeps_order(const RankedLaunch& first, trimtab_dim3 first_block, const RankedLaunch& second,
                 trimtab_dim3 second_block) {
    const auto one = side_of(first, first_block), other = side_of(second, second_block);
    if (!one || !other) return false;
    const std::size_t count = one->most.size();
    for (std::size_t i = 0; i < count; ++i)
        if ((one->most[i].factor != 1 || other->most[i].factor != 1) && !is_in_order(*one, *other, i, i + 1))
            return false;
    return is_in_order(*one, *other, 0, count);
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

int keeps_order(const trimtab_device* /*device*/, const trimtab_image* /*image*/, const trimtab_asked* first,
                const trimtab_asked* second) {
    return keeps_order(launch_with(first->data, first->dynamic_shared_bytes), first->block,
                       launch_with(second->data, second->dynamic_shared_bytes), second->block)
               ? 1
               : 0;
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
    driver_.keeps_order = keeps_order;
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
