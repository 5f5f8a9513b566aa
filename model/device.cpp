#include "model/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/builtin_devices.h"
#include "model/device_fields.h"
#include "model/nearest_name.h"

namespace trimtab::model {

namespace {

using Json = nlohmann::ordered_json;

bool same_name(std::string_view l, std::string_view r) {
    return std::ranges::equal(
        l, r, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

Error at_byte(std::string_view text, std::size_t byte, std::string message, std::string origin) {
    const std::string_view before = text.substr(0, std::min(byte, text.size()));
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1);
    return {.message = std::move(message),
            .file = std::move(origin),
            .line = static_cast<std::uint32_t>(line),
            .column = static_cast<std::uint32_t>(std::max<std::size_t>(column, 1))};
}

// The first thing wrong with an object's members: one that is not known, else one that is missing.
template <typename Names>
std::optional<std::string> check_members(const Json& object, const Names& names, std::string_view what) {
    for (const auto& [key, value] : object.items())
        if (std::ranges::find(names, key) == std::end(names))
            return fmt::format("{} \"{}\" is not known; did you mean \"{}\"?", what, key,
                               nearest_name(key, names));
    for (const auto& name : names)
        if (!object.contains(name)) return fmt::format("{} \"{}\" is missing", what, name);
    return std::nullopt;
}

std::optional<std::string> read_identity(const Json& json, Device& device) {
    static constexpr std::string_view members[] = {"schema", "slug", "name", "aliases", "compute_capability",
                                                   "values"};
    if (auto wrong = check_members(json, members, "field")) return wrong;
    if (json["schema"] != 1) return "field \"schema\" must be 1";
    for (const char* text : {"slug", "name"})
        if (!json[text].is_string() || json[text].get_ref<const std::string&>().empty())
            return fmt::format("field \"{}\" must be a name", text);
    device.slug = json["slug"];
    device.name = json["name"];
    const auto in_slug = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '-'; };
    if (!std::ranges::all_of(device.slug, in_slug))
        return "field \"slug\" must be of lower-case letters, digits and hyphens";
    if (!json["aliases"].is_array()) return "field \"aliases\" must be a list of names";
    for (const Json& alias : json["aliases"]) {
        if (!alias.is_string()) return "field \"aliases\" must be a list of names";
        device.aliases.push_back(alias);
    }
    const Json& capability = json["compute_capability"];
    const auto is_version = [](const Json& v) { return v.is_number_unsigned() && v < 100; };
    if (!capability.is_array() || capability.size() != 2 || !std::ranges::all_of(capability, is_version) ||
        capability[1] > 9)
        return "field \"compute_capability\" must be [major, minor]";
    device.compute_major = capability[0];
    device.compute_minor = capability[1];
    return std::nullopt;
}

std::optional<std::string> read_values(const Json& values, Device& device) {
    if (!values.is_object()) return "field \"values\" must be an object";
    std::vector<std::string_view> names;
    for (const DeviceField& field : device_fields()) names.push_back(field.name);
    if (auto wrong = check_members(values, names, "value")) return wrong;
    for (const DeviceField& field : device_fields()) {
        const Json& entry = values[std::string(field.name)];
        static constexpr std::string_view members[] = {"value", "source"};
        if (!entry.is_object())
            return fmt::format("value \"{}\" must be {{\"value\": number, \"source\": text}}", field.name);
        if (auto wrong = check_members(entry, members, fmt::format("in value \"{}\", field", field.name)))
            return wrong;
        const double value = entry["value"].is_number() ? entry["value"].get<double>() : std::nan("");
        if (!std::isfinite(value) || value < 0)
            return fmt::format("value \"{}\" must be a number that is not negative", field.name);
        if (value == 0 && !field.may_be_zero) return fmt::format("value \"{}\" must not be 0", field.name);
        if (!entry["source"].is_string() || entry["source"].get_ref<const std::string&>().empty())
            return fmt::format("value \"{}\" must say its source", field.name);
        device.values.*field.member = value;
        device.sources.push_back({std::string(field.name), entry["source"]});
    }
    return std::nullopt;
}

std::expected<Device, Error> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::unexpected(Error{.message = "cannot read the device description", .file = path});
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return parse_device(text, path);
}

std::string builtin_origin(std::string_view slug) {
    return fmt::format("{}.json (built in)", slug);
}

}  // namespace

std::expected<Device, Error> parse_device(std::string_view text, std::string origin) {
    const auto fail = [&](std::string message) {
        return std::unexpected(Error{.message = std::move(message), .file = origin});
    };
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::parse_error& error) {
        return std::unexpected(at_byte(text, error.byte, "not valid JSON", origin));
    } catch (const Json::out_of_range&) {
        return fail("a number is too large for a double");
    }
    if (!json.is_object()) return fail("a device description is a JSON object");
    Device device;
    if (auto wrong = read_identity(json, device)) return fail(*wrong);
    if (auto wrong = read_values(json["values"], device)) return fail(*wrong);
    device.values.struct_bytes = sizeof(trimtab_device);
    device.values.compute_capability = device.compute_major * 10 + device.compute_minor;
    return device;
}

const std::vector<Device>& devices() {
    static const std::vector<Device> all = [] {
        std::vector<Device> list;
        for (const BuiltinDevice& builtin : builtin_devices())
            if (auto device = parse_device(builtin.json, builtin_origin(builtin.slug)))
                list.push_back(std::move(*device));
        std::ranges::sort(list, {}, &Device::slug);
        return list;
    }();
    return all;
}

std::expected<Device, Error> find_device(std::string_view name) {
    if (name.ends_with(".json")) return read_file(std::string(name));
    // By slug only that one description is read: a program's start should not pay for all.
    for (const BuiltinDevice& builtin : builtin_devices())
        if (same_name(builtin.slug, name)) return parse_device(builtin.json, builtin_origin(builtin.slug));
    std::vector<std::string> slugs;
    for (const Device& device : devices()) {
        if (same_name(device.name, name)) return device;
        for (const std::string& alias : device.aliases)
            if (same_name(alias, name)) return device;
        slugs.push_back(device.slug);
    }
    return std::unexpected(Error{.message = fmt::format("device \"{}\" is not known; did you mean \"{}\"?",
                                                        name, nearest_name(name, slugs))});
}

}  // namespace trimtab::model
