// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/calibrate/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/model/device_fields.h"

namespace trimtab::calibrate {
namespace {

using Json = nlohmann::ordered_json;

// The emulator does not go by these: what is measured of it says nothing of the device.
constexpr std::string_view not_emulated[] = {"departure_delay_coalesced_cycles",
                                             "departure_delay_uncoalesced_cycles"};

std::string slug_of(const std::string& name) {
    std::string out;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const std::string_view prefix : {"nvidia", "geforce", "tesla"})
        if (out.starts_with(prefix) && out.size() > prefix.size()) out.erase(0, prefix.size());
    return out.empty() ? "device" : out;
}

void set_source(model::Device& device, std::string_view field, std::string source) {
    const auto place = std::ranges::find(device.sources, field, &model::Device::Source::field);
    if (place != device.sources.end())
        place->source = std::move(source);
    else
        device.sources.push_back({std::string(field), std::move(source)});
}

std::string source_of(const model::Device& device, std::string_view field) {
    const auto place = std::ranges::find(device.sources, field, &model::Device::Source::field);
    return place == device.sources.end() ? "" : place->source;
}

}  // namespace

const model::Device& nearest_description(unsigned compute_capability) {
    const auto distance = [compute_capability](const model::Device& device) {
        const unsigned other = device.values.compute_capability;
        return other <= compute_capability ? compute_capability - other : 1000 + (other - compute_capability);
    };
    return *std::ranges::min_element(model::devices(), {}, distance);
}

MeasuredDevice measured_device(const Calibration& calibration, const std::optional<model::Device>& shipped,
                               std::string slug) {
    const ToldDevice& told = calibration.told;
    const unsigned capability = 10 * told.compute_major + told.compute_minor;
    const model::Device& base = shipped ? *shipped : nearest_description(capability);
    MeasuredDevice out{.device = base, .shipped = {}, .relative = {}, .differences = {}};
    (shipped ? out.shipped : out.relative) = base.slug;
    model::Device& device = out.device;
    device.name = told.name;
    if (!shipped) device.aliases.clear();
    if (!slug.empty())
        device.slug = std::move(slug);
    else if (!shipped)
        device.slug = slug_of(told.name);
    device.compute_major = told.compute_major;
    device.compute_minor = told.compute_minor;
    device.values.compute_capability = capability;
    for (const model::DeviceField& field : model::device_fields()) {
        double& value = device.values.*field.member;
        const double before = value;
        const auto is_field = [&](const auto& one) { return one == field.name; };
        const auto measured = std::ranges::find_if(calibration.measurements, is_field, &Measurement::name);
        const bool counts = measured != calibration.measurements.end() && std::isfinite(measured->value) &&
                            measured->value > 0 &&
                            !(calibration.is_emulated &&
                              std::ranges::find(not_emulated, field.name) != std::end(not_emulated));
        const auto known =
            std::ranges::find_if(told.values, is_field, &std::pair<std::string, double>::first);
        FieldDifference difference{.field = std::string(field.name), .shipped = before};
        if (counts) {
            value = measured->value;
            difference.first_quartile = measured->first_quartile;
            difference.third_quartile = measured->third_quartile;
            set_source(
                device, field.name,
                fmt::format("measured: trimtab calibrate{}, {}; median of {}, quartiles {:.6g} and {:.6g}",
                            calibration.is_emulated ? " on the emulator" : "", measured->how,
                            measured->samples, measured->first_quartile, measured->third_quartile));
        } else if (known != told.values.end()) {
            value = known->second;
            difference.first_quartile = difference.third_quartile = value;
            if (!shipped || value != before)
                set_source(device, field.name, fmt::format("vendor: what CUDA tells of {}", told.name));
        } else {
            if (!shipped)
                set_source(device, field.name,
                           fmt::format("estimated: as {}'s ({})", base.slug, source_of(base, field.name)));
            continue;
        }
        difference.found = value;
        out.differences.push_back(std::move(difference));
    }
    return out;
}

std::string to_file(const model::Device& device) {
    Json values = Json::object();
    for (const model::DeviceField& field : model::device_fields()) {
        const double value = device.values.*field.member;
        Json number = value;
        // Counts are written as counts.
        if (value == std::floor(value) && value < 1e15) number = static_cast<std::uint64_t>(value);
        values[std::string(field.name)] = {{"value", std::move(number)},
                                           {"source", source_of(device, field.name)}};
    }
    for (const model::Device::OwnValue& own : device.own_values)
        values[own.field] = {{"value", own.value.value}, {"source", own.value.source}};
    Json out{{"schema", 1},
             {"slug", device.slug},
             {"name", device.name},
             {"aliases", device.aliases},
             {"compute_capability", {device.compute_major, device.compute_minor}}};
    if (!device.architecture.empty()) out["architecture"] = device.architecture;
    out["values"] = std::move(values);
    return out.dump(2) + "\n";
}

}  // namespace trimtab::calibrate
