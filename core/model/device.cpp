// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "core/base/nearest_name.h"
#include "core/base/read_text.h"
#include "core/model/architecture_fields.h"
#include "core/model/builtin_architectures.h"
#include "core/model/builtin_devices.h"
#include "core/model/device_fields.h"

namespace trimtab::model {

namespace {

using base::JsonValue;

bool same_name(std::string_view l, std::string_view r) {
    return std::ranges::equal(
        l, r, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

void read_identity(const JsonValue& json, Device& device) {
    json.check_members({"schema", "slug", "name", "aliases", "compute_capability", "values"},
                       {"architecture"});
    if (json["schema"].natural() != 1) json["schema"].fail("is not 1");
    device.slug = json["slug"].text();
    device.name = json["name"].text();
    const auto in_slug = [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '-'; };
    if (device.slug.empty() || !std::ranges::all_of(device.slug, in_slug))
        json["slug"].fail("is not of lower-case letters, digits and hyphens");
    if (device.name.empty()) json["name"].fail("is empty");
    for (const JsonValue& alias : json["aliases"].list()) device.aliases.push_back(alias.text());
    const auto capability = json["compute_capability"].list(2);  // major, minor
    device.compute_major = capability[0].index_below(100);
    device.compute_minor = capability[1].index_below(10);
    if (const auto architecture = json.find("architecture")) {
        device.architecture = architecture->text();
        if (!builtin_architecture(device.architecture)) {
            std::vector<std::string> names;
            for (const BuiltinArchitecture& one : builtin_architectures()) names.emplace_back(one.name);
            architecture->fail(fmt::format("is none of {}", fmt::join(names, ", ")));
        }
    }
}

void read_values(const JsonValue& values, Device& device) {
    std::vector<std::string_view> names;
    for (const DeviceField& field : device_fields()) names.push_back(field.name);
    values.check_members(names, architecture_field_names());
    for (const DeviceField& field : device_fields()) {
        const std::string name(field.name);
        const JsonValue entry = values[name.c_str()];
        entry.check_members({"value", "source"});
        const double value = entry["value"].number();
        if (!std::isfinite(value) || value < 0) entry["value"].fail("is negative");
        if (value == 0 && !field.may_be_zero) entry["value"].fail("is 0, which it must not be");
        std::string source = entry["source"].text();
        if (source.empty()) entry["source"].fail("is empty: it says where the value is from");
        device.values.*field.member = value;
        device.sources.push_back({name, std::move(source)});
    }
    for (const ArchitectureField& field : architecture_fields()) {
        const std::string name(field.name);
        if (const auto entry = values.find(name.c_str()))
            device.own_values.push_back({name, read_sourced(*entry, field)});
    }
}

Device device_from(const JsonValue& json) {
    Device device;
    read_identity(json, device);
    read_values(json["values"], device);
    device.values.struct_bytes = sizeof(trimtab_device);
    device.values.compute_capability = device.compute_major * 10 + device.compute_minor;
    return device;
}

std::expected<Device, Error> read_file(const std::string& path) {
    const auto text = base::read_text(path);
    if (!text) return std::unexpected(Error{.message = "cannot read the device description", .file = path});
    return parse_device(*text, path);
}

}  // namespace

std::expected<Device, Error> parse_device(std::string_view text, const std::string& origin) {
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "device", origin, device_from);
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
    const std::string near = base::suggestion(name, slugs);
    return std::unexpected(
        Error{.message = fmt::format("device \"{}\" is not known{}", name,
                                     near.empty() ? "; `trimtab devices` lists those that are" : near)});
}

}  // namespace trimtab::model
