// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/emulated_metrics.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "core/model/device_fields.h"
#include "profiler/emulator_backend.h"
#include "tools/trimtab/measured_launch.h"

namespace trimtab::bench {

namespace {

using PlainJson = nlohmann::json;

PlainJson to_json(const EmulatedMetrics& metrics) {
    PlainJson fields = PlainJson::array(), boxes = PlainJson::array(), numbers = PlainJson::array();
    for (const model::ImageField& field : model::image_fields())
        fields.push_back(metrics.image.*field.member);
    for (const double value : metrics.values) numbers.push_back(value);
    for (const auto& [box, sectors] : metrics.footprints) boxes.push_back({box[0], box[1], box[2], sectors});
    return {{"image", fields}, {"values", numbers}, {"footprints", boxes}};
}

std::optional<EmulatedMetrics> metrics_from_json(const PlainJson& json) {
    EmulatedMetrics out;
    try {
        const auto fields = model::image_fields();
        for (std::size_t i = 0; i < fields.size(); ++i)
            out.image.*fields[i].member = json.at("image").at(i).get<double>();
        for (std::size_t i = 0; i < out.values.size(); ++i)
            out.values[i] = json.at("values").at(i).get<double>();
        for (const PlainJson& box : json.at("footprints"))
            out.footprints[{box.at(0).get<double>(), box.at(1).get<double>(), box.at(2).get<double>()}] =
                box.at(3).get<double>();
    } catch (const PlainJson::exception&) {
        return std::nullopt;
    }
    return out;
}

}  // namespace

std::optional<double> EmulatedMetrics::predict_ns(const model::RationalProgram& program,
                                                  const trimtab_device& device,
                                                  const model::Launch& launch) const {
    bool known = true;
    const auto result = program.evaluate(model::input_values(program, device, image, launch),
                                         [&](model::Metric metric, double x, double y, double z) {
                                             if (metric != model::Metric::footprint_sectors)
                                                 return values[static_cast<std::size_t>(metric)];
                                             const auto found = footprints.find({x, y, z});
                                             known = known && found != footprints.end();
                                             return found != footprints.end() ? found->second : 1.0;
                                         });
    if (!known) return std::nullopt;
    return result.launchable ? result.time_ns : std::numeric_limits<double>::infinity();
}

std::expected<EmulatedMetrics, Error> emulate(const tools::LaunchQuestion& question,
                                              const model::Launch& launch, std::uint64_t instruction_budget) {
    const auto blocks = [](std::uint32_t extent, std::uint32_t block) {
        return (extent + block - 1) / block;
    };
    const trimtab_dim3 grid{blocks(launch.extent.x, launch.block.x), blocks(launch.extent.y, launch.block.y),
                            blocks(launch.extent.z, launch.block.z)};
    const auto emulated =
        tools::measure_launch(question, grid, launch.block,
                              static_cast<std::uint32_t>(launch.dynamic_shared_bytes), instruction_budget);
    if (!emulated) return std::unexpected(emulated.error());
    EmulatedMetrics metrics{.image = question.image, .values = emulated->values, .footprints = {}};
    for (const std::string_view name : model::performance_model_names()) {
        const auto program = model::performance_model(name);
        if (!program) return std::unexpected(program.error());
        const auto inputs = model::input_values(**program, question.device.values, question.image, launch);
        (void)(*program)->evaluate(inputs, [&](model::Metric metric, double x, double y, double z) {
            const double value = emulated->metric(metric, x, y, z);
            if (metric == model::Metric::footprint_sectors) metrics.footprints[{x, y, z}] = value;
            return value;
        });
    }
    return metrics;
}

MetricsMemory::MetricsMemory(std::string kind, const std::string& store_path)
    : kind_(std::move(kind)),
      store_(store_path, [](const std::string& line) { fmt::print(stderr, "{}\n", line); }) {
    std::string text{profiler::emulator_backend_version()};
    for (const model::ImageField& field : model::image_fields()) text += fmt::format(" {}", field.name);
    for (const model::MetricInfo& metric : model::metric_table()) text += fmt::format(" {}", metric.name);
    version_ = fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::expected<double, Error> MetricsMemory::predict_ns(const std::string& key,
                                                       const model::RationalProgram& program,
                                                       const trimtab_device& device,
                                                       const model::Launch& launch, const Measure& measure) {
    const std::string full_key = version_ + " " + key;
    if (const auto blob = fresh_ ? std::nullopt : store_.blob(kind_, full_key)) {
        const PlainJson json = PlainJson::parse(*blob, nullptr, false);
        if (json.is_string()) return std::unexpected(Error{.message = json});
        if (const auto metrics = metrics_from_json(json))
            if (const auto ns = metrics->predict_ns(program, device, launch)) return *ns;
    }
    ++measured_;
    const auto metrics = measure();
    store_.put_blob(kind_, full_key,
                    metrics ? to_json(*metrics).dump() : PlainJson(metrics.error().text()).dump());
    if (!metrics) return std::unexpected(metrics.error());
    const auto ns = metrics->predict_ns(program, device, launch);
    if (!ns) return std::unexpected(Error{.message = "a footprint that no named model asks for"});
    return *ns;
}

}  // namespace trimtab::bench
