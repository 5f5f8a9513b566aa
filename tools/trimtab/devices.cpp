// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab devices: the GPUs that Trimtab describes, and every value with its source.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/model/architecture_fields.h"
#include "core/model/device.h"
#include "core/model/device_fields.h"
#include "tools/trimtab/command.h"
#include "tools/trimtab/help_groups.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

struct DevicesOptions {
    std::string device;
    bool json = false;
};

Json to_json(const model::Device& device, bool with_sources) {
    Json values = Json::object();
    for (const model::DeviceField& field : model::device_fields()) {
        const double value = device.values.*field.member;
        if (!with_sources) {
            values[std::string(field.name)] = value;
            continue;
        }
        const auto source = std::ranges::find(device.sources, field.name, &model::Device::Source::field);
        values[std::string(field.name)] = {{"value", value},
                                           {"source", source == device.sources.end() ? "" : source->source}};
    }
    const model::Architecture architecture = model::architecture_of(device);
    Json out{{"slug", device.slug},
             {"name", device.name},
             {"aliases", device.aliases},
             {"compute_capability", {device.compute_major, device.compute_minor}},
             {"architecture", architecture.name},
             {"values", std::move(values)}};
    if (!with_sources) return out;
    Json& of_architecture = out["architecture_values"] = Json::object();
    for (const model::ArchitectureField& field : model::architecture_fields()) {
        const model::Sourced& value = architecture.*field.member;
        of_architecture[std::string(field.name)] = {{"value", value.value}, {"source", value.source}};
    }
    return out;
}

void print_table() {
    fmt::print("{:<16} {:<30} {:>3} {:>4} {:>9} {:>8} {:>8} {:>12}\n", "slug", "name", "cc", "SMs",
               "clock MHz", "GB/s", "L2 KiB", "threads/SM");
    for (const model::Device& device : model::devices()) {
        const trimtab_device& v = device.values;
        fmt::print("{:<16} {:<30} {}.{} {:>4} {:>9.0f} {:>8.0f} {:>8.0f} {:>12}\n", device.slug, device.name,
                   device.compute_major, device.compute_minor, v.sm_count, v.sm_clock_hz / 1e6,
                   v.dram_bytes_per_s / 1e9, v.l2_bytes / 1024, v.max_threads_per_sm);
    }
}

void print_device(const model::Device& device) {
    fmt::print("{} ({}), compute capability {}.{}\n", device.name, device.slug, device.compute_major,
               device.compute_minor);
    if (!device.aliases.empty()) fmt::print("also known as {}\n", fmt::join(device.aliases, ", "));
    for (const model::DeviceField& field : model::device_fields()) {
        const auto source = std::ranges::find(device.sources, field.name, &model::Device::Source::field);
        fmt::print("  {:<36} {:>14}  {}\n", field.name, device.values.*field.member,
                   source == device.sources.end() ? "" : source->source);
    }
    const model::Architecture architecture = model::architecture_of(device);
    fmt::print("architecture {}\n", architecture.name);
    for (const model::ArchitectureField& field : model::architecture_fields())
        fmt::print("  {:<36} {:>14}  {}\n", field.name, (architecture.*field.member).value,
                   (architecture.*field.member).source);
}

int run(const DevicesOptions& options) {
    if (options.device.empty()) {
        if (!options.json) {
            print_table();
            return code(ExitCode::ok);
        }
        Json list = Json::array();
        for (const model::Device& device : model::devices()) list.push_back(to_json(device, false));
        fmt::print("{}\n", list.dump(2));
        return code(ExitCode::ok);
    }
    const auto device = model::find_device(options.device);
    if (!device) return fail(device.error());
    if (options.json)
        fmt::print("{}\n", to_json(*device, true).dump(2));
    else
        print_device(*device);
    return code(ExitCode::ok);
}

}  // namespace

void add_devices(CLI::App& app, Action& action) {
    auto options = std::make_shared<DevicesOptions>();
    CLI::App* command =
        app.add_subcommand("devices", "List the known GPUs, or the values of one")->group(groups::set_up);
    command->add_option("DEVICE", options->device, "Slug, name, or JSON file");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trimtab::tools
