// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/calibrate/measurement.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"

namespace trimtab::calibrate {
namespace {

using Json = nlohmann::ordered_json;
using base::JsonValue;

// Between the samples next to the place, as most programs have it.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Measurement summarized(std::string name, std::string unit, std::vector<double> samples, std::string how) {
    std::ranges::sort(samples);
    return {.name = std::move(name),
            .unit = std::move(unit),
            .value = quantile(samples, 0.5),
            .first_quartile = quantile(samples, 0.25),
            .third_quartile = quantile(samples, 0.75),
            .samples = samples.size(),
            .how = std::move(how)};
}

Json to_json(const Measurement& one) {
    return {{"name", one.name},       {"unit", one.unit},
            {"value", one.value},     {"quartiles", {one.first_quartile, one.third_quartile}},
            {"samples", one.samples}, {"how", one.how}};
}

Json to_json(const Calibration& calibration) {
    Json told = Json::object(), measurements = Json::array();
    for (const auto& [field, value] : calibration.told.values) told[field] = value;
    for (const Measurement& one : calibration.measurements) measurements.push_back(to_json(one));
    return {{"name", calibration.told.name},
            {"compute_capability", {calibration.told.compute_major, calibration.told.compute_minor}},
            {"emulated", calibration.is_emulated},
            {"told", std::move(told)},
            {"measurements", std::move(measurements)}};
}

std::expected<Calibration, Error> calibration_from(const std::string& text, const std::string& origin) {
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "calibration", origin, [](const JsonValue& value) {
        Calibration out;
        out.told.name = value["name"].text();
        const auto capability = value["compute_capability"].list(2);
        out.told.compute_major = capability[0].count();
        out.told.compute_minor = capability[1].count();
        out.is_emulated = value["emulated"].boolean();
        for (const auto& [field, number] : value["told"].members())
            out.told.values.emplace_back(field, number.number());
        for (const JsonValue& one : value["measurements"].list()) {
            const auto quartiles = one["quartiles"].list(2);
            out.measurements.push_back({.name = one["name"].text(),
                                        .unit = one["unit"].text(),
                                        .value = one["value"].number(),
                                        .first_quartile = quartiles[0].number(),
                                        .third_quartile = quartiles[1].number(),
                                        .samples = one["samples"].natural(),
                                        .how = one["how"].text()});
        }
        return out;
    });
}

}  // namespace trimtab::calibrate
