// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiles and index ranges as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "profiler/profile.h"

namespace trimtab::profiler {

namespace {

using base::JsonValue;
using nlohmann::json;

constexpr std::array<const char*, 3> dimension_names{"x", "y", "z"};

json linear_json(const LinearForm& form) {
    return {{"constant", form.constant}, {"terms", form.terms}};
}

LinearForm linear_from(const JsonValue& value, std::size_t data_count) {
    LinearForm form{.constant = value["constant"].number(), .terms = {}};
    for (const JsonValue& term : value["terms"].list()) {
        const auto pair = term.list(2);
        form.terms.emplace_back(pair[0].index_below(data_count), pair[1].number());
    }
    return form;
}

model::Metric metric_from(const JsonValue& value) {
    if (const auto metric = model::metric_named(value.text())) return *metric;
    value.fail(fmt::format("names no metric: \"{}\"", value.text()));
}

json point_json(const ProfilePoint& point, const std::vector<model::Metric>& metrics) {
    json values = json::array();
    for (const model::Metric metric : metrics) {
        const auto& value = point.metrics[static_cast<std::size_t>(metric)];
        values.push_back(value ? json(*value) : json(nullptr));
    }
    return {{"data", point.data}, {"box", point.box}, {"held_out", point.held_out}, {"values", values}};
}

ProfilePoint point_from(const JsonValue& value, std::size_t data_count,
                        const std::vector<model::Metric>& metrics) {
    ProfilePoint point;
    for (const JsonValue& entry : value["data"].list(data_count)) point.data.push_back(entry.number());
    const auto box = value["box"].list(3);
    for (std::size_t d = 0; d < 3; ++d) point.box[d] = box[d].number();
    point.held_out = value["held_out"].boolean();
    const auto values = value["values"].list(metrics.size());
    for (std::size_t i = 0; i < metrics.size(); ++i)
        if (!values[i].is_null()) point.metrics[static_cast<std::size_t>(metrics[i])] = values[i].number();
    return point;
}

PlanLevel level_from(const JsonValue& value, std::size_t data_count) {
    PlanLevel level{.data = {}, .held_out = value["held_out"].boolean(), .why = value["why"].text()};
    for (const JsonValue& entry : value["data"].list(data_count)) level.data.push_back(entry.number());
    return level;
}

Profile profile_from(const JsonValue& value) {
    Profile profile;
    if (value["abi"].count() != profile_abi) value["abi"].fail(fmt::format("is not {}", profile_abi));
    profile.kernel_id = value["kernel"].text();
    profile.backend_name = value["backend"]["name"].text();
    profile.backend_version = value["backend"]["version"].text();
    for (const JsonValue& entry : value["data"].list()) profile.data_names.push_back(entry.text());
    const std::size_t data_count = profile.data_names.size();
    for (const JsonValue& entry : value["varied"].list(data_count)) profile.varied.push_back(entry.boolean());
    profile.ranges = ranges_from(value["ranges"], data_count);
    for (const JsonValue& entry : value["element_bytes"].list())
        profile.element_bytes.push_back(entry.count());
    if (const auto cooperate = value.find("blocks_cooperate"))
        profile.blocks_cooperate = cooperate->boolean();
    if (const auto strides = value.find("strides"))
        for (const JsonValue& entry : strides->list())
            profile.strides.push_back(entry.index_below(data_count));
    if (const auto pitches = value.find("pitches"))
        for (const JsonValue& entry : pitches->list())
            profile.pitches.push_back(entry.index_below(data_count));
    if (const auto special = value.find("special"))
        for (const JsonValue& entry : special->list()) {
            const auto pair = entry.list(2);
            profile.special.push_back({.data = pair[0].index_below(data_count), .value = pair[1].number()});
        }
    if (const auto levels = value.find("levels"))
        for (const JsonValue& entry : levels->list()) profile.levels.push_back(level_from(entry, data_count));
    std::vector<model::Metric> metrics;
    for (const JsonValue& entry : value["metrics"].list()) metrics.push_back(metric_from(entry));
    for (const JsonValue& entry : value["points"].list())
        profile.points.push_back(point_from(entry, data_count, metrics));
    for (const JsonValue& entry : value["data_dependent"].list())
        profile.data_dependent.push_back(metric_from(entry));
    profile.warp_instructions = value["warp_instructions"].natural();
    if (const auto left_out = value.find("left_out")) profile.left_out = left_out->count();
    return profile;
}

}  // namespace

json to_json(const IndexRanges& ranges) {
    json out;
    for (std::size_t d = 0; d < 3; ++d) {
        json extent = nullptr;
        if (ranges.extent[d] != no_data) extent = ranges.extent[d];
        out[dimension_names[d]] = {
            {"first", linear_json(ranges.first[d])}, {"end", linear_json(ranges.end[d])}, {"extent", extent}};
    }
    return out;
}

IndexRanges ranges_from(const JsonValue& value, std::size_t data_count) {
    IndexRanges ranges;
    for (std::size_t d = 0; d < 3; ++d) {
        const JsonValue range = value[dimension_names[d]];
        ranges.first[d] = linear_from(range["first"], data_count);
        ranges.end[d] = linear_from(range["end"], data_count);
        if (const JsonValue extent = range["extent"]; !extent.is_null())
            ranges.extent[d] = extent.index_below(data_count);
    }
    return ranges;
}

json to_json(const Profile& profile) {
    json points = json::array(), data_dependent = json::array(), names = json::array();
    std::vector<model::Metric> metrics;
    for (std::size_t m = 0; m < model::metric_count; ++m)
        if (std::ranges::any_of(profile.points,
                                [&](const ProfilePoint& point) { return point.metrics[m].has_value(); }))
            metrics.push_back(static_cast<model::Metric>(m));
    for (const model::Metric metric : metrics) names.push_back(model::name(metric));
    for (const ProfilePoint& point : profile.points) points.push_back(point_json(point, metrics));
    for (const model::Metric metric : profile.data_dependent) data_dependent.push_back(model::name(metric));
    json out = {{"abi", profile_abi},
                {"kernel", profile.kernel_id},
                {"backend", {{"name", profile.backend_name}, {"version", profile.backend_version}}},
                {"data", profile.data_names},
                {"varied", profile.varied},
                {"ranges", to_json(profile.ranges)},
                {"element_bytes", profile.element_bytes},
                {"metrics", names},
                {"points", points},
                {"data_dependent", data_dependent},
                {"warp_instructions", profile.warp_instructions}};
    for (const PlanLevel& level : profile.levels)
        out["levels"].push_back({{"data", level.data}, {"held_out", level.held_out}, {"why", level.why}});
    if (!profile.strides.empty()) out["strides"] = profile.strides;
    if (profile.left_out != 0) out["left_out"] = profile.left_out;
    if (!profile.pitches.empty()) out["pitches"] = profile.pitches;
    for (const SpecialValue& special : profile.special)
        out["special"].push_back({special.data, special.value});
    if (profile.blocks_cooperate) out["blocks_cooperate"] = true;
    return out;
}

std::expected<Profile, Error> profile_from_json(const json& value, const std::string& origin) {
    return base::read_json(value, "profile", origin, profile_from);
}

}  // namespace trimtab::profiler
