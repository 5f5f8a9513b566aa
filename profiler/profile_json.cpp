// Profiles and index ranges as JSON.
#include <algorithm>

#include "profiler/json_reader.h"
#include "profiler/profile.h"

namespace trimtab::profiler {

namespace {

using nlohmann::json;
using namespace json_reader;

constexpr std::array<const char*, 3> dimension_names{"x", "y", "z"};

json linear_json(const LinearForm& form) {
    return {{"constant", form.constant}, {"terms", form.terms}};
}

LinearForm linear_from(const json& value, std::size_t data_count, const std::string& where) {
    LinearForm form{.constant = number(member(value, "constant", where), where + ".constant"), .terms = {}};
    for (const json& pair : array(member(value, "terms", where), where + ".terms")) {
        if (!pair.is_array() || pair.size() != 2) malformed(where, "holds a term that is no [data, factor]");
        form.terms.emplace_back(index_below(pair[0], data_count, where + ".terms"),
                                number(pair[1], where + ".terms"));
    }
    return form;
}

IndexRanges ranges_from(const json& value, std::size_t data_count, const std::string& origin) {
    IndexRanges ranges;
    for (std::size_t d = 0; d < 3; ++d) {
        const std::string where = origin + "." + dimension_names[d];
        const json& range = member(value, dimension_names[d], origin);
        ranges.first[d] = linear_from(member(range, "first", where), data_count, where + ".first");
        ranges.end[d] = linear_from(member(range, "end", where), data_count, where + ".end");
        const json& extent = member(range, "extent", where);
        if (!extent.is_null()) ranges.extent[d] = index_below(extent, data_count, where + ".extent");
    }
    return ranges;
}

model::Metric metric_from(const std::string& metric_name, const std::string& where) {
    const auto metric = model::metric_named(metric_name);
    if (!metric) malformed(where, fmt::format("names no metric: \"{}\"", metric_name));
    return *metric;
}

json point_json(const ProfilePoint& point, const std::vector<model::Metric>& metrics) {
    json values = json::array();
    for (const model::Metric metric : metrics) {
        const auto& value = point.metrics[static_cast<std::size_t>(metric)];
        values.push_back(value ? json(*value) : json(nullptr));
    }
    return {{"data", point.data}, {"box", point.box}, {"held_out", point.held_out}, {"values", values}};
}

ProfilePoint point_from(const json& value, std::size_t data_count, const std::vector<model::Metric>& metrics,
                        const std::string& where) {
    ProfilePoint point;
    for (const json& entry : array(member(value, "data", where), where + ".data"))
        point.data.push_back(number(entry, where + ".data"));
    if (point.data.size() != data_count) malformed(where + ".data", "has another length than profile.data");
    const json& box = array(member(value, "box", where), where + ".box");
    if (box.size() != 3) malformed(where + ".box", "is not [x, y, z]");
    for (std::size_t d = 0; d < 3; ++d) point.box[d] = number(box[d], where + ".box");
    point.held_out = boolean(member(value, "held_out", where), where + ".held_out");
    const json& values = array(member(value, "values", where), where + ".values");
    if (values.size() != metrics.size())
        malformed(where + ".values", "has another length than profile.metrics");
    for (std::size_t i = 0; i < metrics.size(); ++i)
        if (!values[i].is_null())
            point.metrics[static_cast<std::size_t>(metrics[i])] = number(values[i], where + ".values");
    return point;
}

Profile read(const json& value) {
    const std::string root = "profile";
    Profile profile;
    if (count(member(value, "abi", root), "profile.abi") != profile_abi)
        malformed("profile.abi", fmt::format("is not {}", profile_abi));
    profile.kernel_id = text(member(value, "kernel", root), "profile.kernel");
    const json& backend = member(value, "backend", root);
    profile.backend_name = text(member(backend, "name", "profile.backend"), "profile.backend.name");
    profile.backend_version = text(member(backend, "version", "profile.backend"), "profile.backend.version");
    for (const json& entry : array(member(value, "data", root), "profile.data"))
        profile.data_names.push_back(text(entry, "profile.data"));
    for (const json& entry : array(member(value, "varied", root), "profile.varied"))
        profile.varied.push_back(boolean(entry, "profile.varied"));
    const std::size_t data_count = profile.data_names.size();
    if (profile.varied.size() != data_count)
        malformed("profile.varied", "has another length than profile.data");
    profile.ranges = ranges_from(member(value, "ranges", root), data_count, "profile.ranges");
    for (const json& entry : array(member(value, "element_bytes", root), "profile.element_bytes"))
        profile.element_bytes.push_back(count(entry, "profile.element_bytes"));
    if (const auto found = value.find("blocks_cooperate"); found != value.end())
        profile.blocks_cooperate = boolean(*found, "profile.blocks_cooperate");
    std::vector<model::Metric> metrics;
    for (const json& entry : array(member(value, "metrics", root), "profile.metrics"))
        metrics.push_back(metric_from(text(entry, "profile.metrics"), "profile.metrics"));
    for (const json& entry : array(member(value, "points", root), "profile.points"))
        profile.points.push_back(
            point_from(entry, data_count, metrics, fmt::format("profile.points[{}]", profile.points.size())));
    for (const json& entry : array(member(value, "data_dependent", root), "profile.data_dependent"))
        profile.data_dependent.push_back(
            metric_from(text(entry, "profile.data_dependent"), "profile.data_dependent"));
    const json& run = member(value, "warp_instructions", root);
    if (!is_natural(run)) malformed("profile.warp_instructions", "is not a count");
    profile.warp_instructions = run.get<std::uint64_t>();
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

std::expected<IndexRanges, Error> ranges_from_json(const json& value, std::size_t data_count,
                                                   const std::string& origin) {
    try {
        return ranges_from(value, data_count, origin);
    } catch (const Malformed& malformed) {
        return std::unexpected(Error{.message = malformed.message});
    }
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
    if (profile.blocks_cooperate) out["blocks_cooperate"] = true;
    return out;
}

std::expected<Profile, Error> profile_from_json(const json& value, const std::string& origin) {
    try {
        return read(value);
    } catch (const Malformed& malformed) {
        return std::unexpected(Error{.message = malformed.message, .file = origin});
    }
}

}  // namespace trimtab::profiler
