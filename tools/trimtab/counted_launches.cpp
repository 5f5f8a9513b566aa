// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/counted_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/cupti/counters.h"

namespace trimtab::tools {
namespace {

using model::Metric;
using profiler::ObservedLaunch;

BlockSize size_of(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

// Sizes alone: extents follow from the shape.
bool has_data(const BenchedLaunch& launch, const analysis::KernelDescription& description,
              const std::vector<double>& data) {
    for (std::size_t i = 0; i < description.data.size(); ++i) {
        if (description.data[i].is_extent) continue;
        const auto own =
            std::ranges::find(launch.data, description.data[i].name, &std::pair<std::string, double>::first);
        if (own == launch.data.end() || own->second != data[i]) return false;
    }
    return true;
}

struct Found {
    const BenchedLaunch* launch = nullptr;
    const TimedShape* shape = nullptr;
};

std::optional<Found> find(const Bench& counted, const analysis::KernelDescription& description,
                          const ObservedLaunch& launch) {
    const std::vector<double> data = analysis::data_values(
        description, launch.parameters, description.counted_extent(launch.grid, launch.block));
    for (const BenchedLaunch& one : counted.launches) {
        if (one.kernel != description.name || !has_data(one, description, data)) continue;
        for (const TimedShape& shape : one.shapes)
            if (!shape.counters.empty() && shape.grid == size_of(launch.grid) &&
                shape.block == size_of(launch.block))
                return Found{.launch = &one, .shape = &shape};
    }
    return std::nullopt;
}

}  // namespace

CountedKernel take_counters(const Bench& counted, const analysis::KernelDescription& description,
                            std::vector<ObservedLaunch>& launches) {
    CountedKernel out;
    std::map<Metric, CountedMetric> metrics;
    for (ObservedLaunch& launch : launches) {
        const auto value = [&launch](Metric metric) -> double& {
            return launch.values[static_cast<std::size_t>(metric)];
        };
        const auto found = find(counted, description, launch);
        if (!found) continue;
        out.chip = found->launch->chip;
        ++out.launches;
        std::map<std::string, double> means;
        for (const auto& [name, samples] : found->shape->counters)
            means[name] = profiler::cupti::fenced_mean(samples);
        const double active_warps = value(Metric::active_warps) * value(Metric::active_blocks);
        for (const auto& [metric, gpu] : profiler::cupti::metrics_of(means, active_warps)) {
            const double emulated = value(metric);
            CountedMetric& one = metrics[metric];
            one.metric = metric;
            ++one.points;
            one.emulator_mean += emulated;
            one.gpu_mean += gpu;
            const double larger = std::max(std::abs(emulated), std::abs(gpu));
            const double difference = larger > 0 ? std::abs(gpu - emulated) / larger : 0;
            one.mean_difference += difference;
            one.most_difference = std::max(one.most_difference, difference);
            value(metric) = gpu;
        }
    }
    for (auto& [metric, one] : metrics) {
        const auto points = static_cast<double>(one.points);
        one.emulator_mean /= points;
        one.gpu_mean /= points;
        one.mean_difference /= points;
        out.metrics.push_back(one);
    }
    return out;
}

nlohmann::ordered_json to_json(const CountedKernel& kernel) {
    auto metrics = nlohmann::ordered_json::array();
    for (const CountedMetric& one : kernel.metrics)
        metrics.push_back({{"metric", std::string(model::name(one.metric))},
                           {"points", one.points},
                           {"emulator_mean", one.emulator_mean},
                           {"gpu_mean", one.gpu_mean},
                           {"mean_difference", one.mean_difference},
                           {"most_difference", one.most_difference}});
    return {{"chip", kernel.chip}, {"launches", kernel.launches}, {"metrics", std::move(metrics)}};
}

std::string to_text(const CountedKernel& kernel) {
    if (kernel.chip.empty()) return "  the GPU counted none of these launches\n";
    std::string out = fmt::format("  {} of these launches counted by {}, against the emulator:\n",
                                  kernel.launches, kernel.chip);
    for (const CountedMetric& one : kernel.metrics)
        out += fmt::format("    {:<20} {:>12.5g} {:>12.5g}   differ by {:.1f} %, at most {:.1f} %\n",
                           model::name(one.metric), one.gpu_mean, one.emulator_mean,
                           100 * one.mean_difference, 100 * one.most_difference);
    return out;
}

}  // namespace trimtab::tools
