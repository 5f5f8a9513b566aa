// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/json_value.h"
#include "core/model/device_fields.h"
#include "emulation/emulator/metrics/launch_profile.h"

namespace trimtab::emulator {
namespace {

using base::JsonValue;
using nlohmann::json;

struct CountField {
    const char* name;
    std::uint64_t InstructionCount::* member;
};
constexpr CountField count_fields[] = {
    {"warp", &InstructionCount::warp},
    {"thread", &InstructionCount::thread},
    {"requests", &InstructionCount::requests},
    {"sectors", &InstructionCount::sectors},
    {"lines", &InstructionCount::lines},
    {"partial_sectors", &InstructionCount::partial_sectors},
    {"wavefronts", &InstructionCount::wavefronts},
    {"bytes", &InstructionCount::bytes},
    {"divergent", &InstructionCount::divergent},
};

json dimensions(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

trimtab_dim3 dimensions(const JsonValue& value) {
    const auto parts = value.list(3);
    const trimtab_dim3 size{.x = parts[0].count(), .y = parts[1].count(), .z = parts[2].count()};
    if (size.x == 0 || size.y == 0 || size.z == 0) value.fail("has a dimension of 0");
    return size;
}

std::vector<std::string_view> class_names() {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < instruction_class_count; ++i)
        names.push_back(name(static_cast<InstructionClass>(i)));
    return names;
}

InstructionProfile instruction_from(const JsonValue& value) {
    static const std::vector<std::string_view> classes = class_names();
    InstructionProfile out;
    out.source = value["source"].text();
    out.text = value["text"].text();
    out.kind = static_cast<InstructionClass>(value["class"].one_of(classes));
    for (const CountField& field : count_fields)
        if (const auto found = value.find(field.name)) out.count.*field.member = found->natural();
    out.index = value["index"].count();
    if (const auto column = value.find("column")) out.column = column->count();
    if (const auto parameter = value.find("parameter")) out.parameter = parameter->integer(-1, 1 << 20);
    if (const auto computed = value.find("address_computed")) {
        out.address_computed = computed->number();
        out.repeats_address = true;
    }
    return out;
}

LaunchProfile profile_from(const JsonValue& value) {
    if (const auto version = value["version"].natural(); version != launch_profile_version)
        value["version"].fail("is " + std::to_string(version) +
                              ": a profile of another version of Trimtab; this one writes " +
                              std::to_string(launch_profile_version));
    LaunchProfile out;
    out.kernel = value["kernel"].text();
    out.device = value["device"].text();
    out.grid = dimensions(value["grid"]);
    out.block = dimensions(value["block"]);
    out.dynamic_shared_bytes = value["dynamic_shared_bytes"].count();
    for (const JsonValue& one : value["parameters"].list())
        out.parameters.push_back(static_cast<std::byte>(one.integer(0, 255)));
    for (const model::ImageField& field : model::image_fields())
        out.image.*field.member = value["image"][std::string(field.name).c_str()].number();
    out.time_ns = value["time_ns"].number();
    out.launches = value["launches"].natural();
    out.total_ns = value["total_ns"].number();
    out.counted_blocks = value["counted_blocks"].number();
    out.counted_active_blocks = value["counted_active_blocks"].number();
    out.counted_active_warps = value["counted_active_warps"].number();
    out.branches = value["branches"].number();
    out.divergent_branches = value["divergent_branches"].number();
    for (const auto& [metric_name, number] : value["metrics"].members()) {
        const auto metric = model::metric_named(metric_name);
        if (!metric) number.fail("is no metric");
        out.values[static_cast<std::size_t>(*metric)] = number.number();
    }
    for (const JsonValue& sample : value["footprints"].list()) {
        const auto parts = sample.list(4);
        out.footprints.push_back({.x = parts[0].number(),
                                  .y = parts[1].number(),
                                  .z = parts[2].number(),
                                  .sectors = parts[3].number()});
    }
    for (const JsonValue& instruction : value["instructions"].list())
        out.instructions.push_back(instruction_from(instruction));
    for (const JsonValue& written : value["written"].list()) out.written.push_back(written.boolean());
    out.writes_unknown = value["writes_unknown"].boolean();
    return out;
}

}  // namespace

json to_json(const LaunchProfile& profile) {
    json image = json::object(), metrics = json::object(), footprints = json::array(),
         instructions = json::array(), parameters = json::array();
    for (const std::byte one : profile.parameters) parameters.push_back(std::to_integer<unsigned>(one));
    for (const model::ImageField& field : model::image_fields())
        image[std::string(field.name)] = profile.image.*field.member;
    for (const model::MetricInfo& info : model::metric_table())
        metrics[std::string(info.name)] = profile.values[static_cast<std::size_t>(info.metric)];
    for (const FootprintSample& sample : profile.footprints)
        footprints.push_back({sample.x, sample.y, sample.z, sample.sectors});
    for (const InstructionProfile& instruction : profile.instructions) {
        json entry{{"source", instruction.source},
                   {"text", instruction.text},
                   {"index", instruction.index},
                   {"class", std::string(name(instruction.kind))}};
        for (const CountField& field : count_fields)
            if (const std::uint64_t count = instruction.count.*field.member; count != 0)
                entry[field.name] = count;
        if (instruction.column != 0) entry["column"] = instruction.column;
        if (instruction.parameter >= 0) entry["parameter"] = instruction.parameter;
        if (instruction.repeats_address) entry["address_computed"] = instruction.address_computed;
        instructions.push_back(std::move(entry));
    }
    return {{"version", launch_profile_version},
            {"kernel", profile.kernel},
            {"device", profile.device},
            {"grid", dimensions(profile.grid)},
            {"block", dimensions(profile.block)},
            {"dynamic_shared_bytes", profile.dynamic_shared_bytes},
            {"parameters", std::move(parameters)},
            {"image", std::move(image)},
            {"time_ns", profile.time_ns},
            {"launches", profile.launches},
            {"total_ns", profile.total_ns},
            {"counted_blocks", profile.counted_blocks},
            {"counted_active_blocks", profile.counted_active_blocks},
            {"counted_active_warps", profile.counted_active_warps},
            {"branches", profile.branches},
            {"divergent_branches", profile.divergent_branches},
            {"metrics", std::move(metrics)},
            {"footprints", std::move(footprints)},
            {"instructions", std::move(instructions)},
            {"written", profile.written},
            {"writes_unknown", profile.writes_unknown}};
}

std::expected<LaunchProfile, Error> launch_profile_from_json(const json& value, const std::string& origin) {
    return base::read_json(value, "profile", origin, profile_from);
}

}  // namespace trimtab::emulator
