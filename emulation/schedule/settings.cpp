// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trimtab::schedule {

namespace {

constexpr double least_gap = 0.001, most_cycles = 1e9;
constexpr std::string_view source = "set on the command line";

// What an instruction waits for is its unit's latency.
bool has_latency(Resource resource) {
    return resource != Resource::load_store && resource != Resource::issue;
}

std::string listed_resources() {
    std::vector<std::string_view> names;
    for (std::size_t r = 0; r < resource_count; ++r) names.push_back(name(static_cast<Resource>(r)));
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::expected<Settings::Number, std::string> number_from(std::string_view text) {
    const std::size_t equals = text.find('='), dot = text.rfind('.', equals);
    if (equals == std::string_view::npos || dot == std::string_view::npos)
        return std::unexpected(
            fmt::format("{} is not RESOURCE.latency=V or RESOURCE.gap=V, in cycles, as dram.gap=2.5", text));
    const std::string_view key = text.substr(dot + 1, equals - dot - 1), value = text.substr(equals + 1);
    const auto resource = resource_named(text.substr(0, dot));
    if (!resource)
        return std::unexpected(
            fmt::format("{}: there is no such resource, but {}", text.substr(0, dot), listed_resources()));
    Settings::Number out{.resource = *resource, .is_gap = key == "gap", .cycles = 0};
    if (!out.is_gap && key != "latency")
        return std::unexpected(fmt::format("{}: a resource has a latency and a gap", text));
    if (!out.is_gap && !has_latency(*resource))
        return std::unexpected(fmt::format("{}: {} has only a gap", text, name(*resource)));
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out.cycles);
    const double least = out.is_gap ? least_gap : 0;
    if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(out.cycles) ||
        out.cycles < least || out.cycles > most_cycles)
        return std::unexpected(
            fmt::format("{}: not a number of cycles from {} to {:.0f}", text, least, most_cycles));
    return out;
}

std::string name(const Settings::Number& number) {
    return fmt::format("{}.{}", name(number.resource), number.is_gap ? "gap" : "latency");
}

void apply(const Settings& settings, Machine& machine) {
    for (const Settings::Number& number : settings.numbers) {
        Pipe& pipe = machine.of(number.resource);
        (number.is_gap ? pipe.gap_cycles : pipe.latency_cycles) = number.cycles;
        (number.is_gap ? pipe.gap_source : pipe.latency_source) = source;
    }
    machine.l1_hit_rate = settings.l1_hit_rate;
    machine.l2_hit_rate = settings.l2_hit_rate;
    if (!settings.no_caches) return;
    machine.has_caches = false;
    machine.l1_bytes = machine.l2_bytes = 0;
    machine.l1_hit_rate = machine.l2_hit_rate = 0;
}

model::Device with_settings(model::Device device, const Settings& settings) {
    trimtab_device& d = device.values;
    const model::Architecture architecture = model::architecture_of(device);
    const auto set = [&](double trimtab_device::* member, std::string_view field, double value) {
        d.*member = value;
        const auto found = std::ranges::find(device.sources, field, &model::Device::Source::field);
        if (found != device.sources.end()) found->source = source;
    };
    // Units that are fewer than the schedulers belong to the SM.
    const auto lanes = [&](double gap) {
        return gap <= d.warp_size ? std::max(1.0, d.schedulers_per_sm) * d.warp_size / gap
                                  : d.warp_size / gap;
    };
    for (const auto& [resource, is_gap, cycles] : settings.numbers) {
        switch (resource) {
            case Resource::fp32:
            case Resource::fp16:
                if (is_gap)
                    set(&trimtab_device::fp32_lanes_per_sm, "fp32_lanes_per_sm", lanes(cycles));
                else
                    set(&trimtab_device::latency_fp32_cycles, "latency_fp32_cycles", cycles);
                break;
            case Resource::fp64:
                if (is_gap) set(&trimtab_device::fp64_lanes_per_sm, "fp64_lanes_per_sm", lanes(cycles));
                break;
            case Resource::integer:
                if (is_gap) set(&trimtab_device::int32_lanes_per_sm, "int32_lanes_per_sm", lanes(cycles));
                break;
            case Resource::special_function:
                if (is_gap)
                    set(&trimtab_device::special_function_lanes_per_sm, "special_function_lanes_per_sm",
                        lanes(cycles));
                break;
            case Resource::load_store:
                set(&trimtab_device::load_store_units_per_sm, "load_store_units_per_sm",
                    d.warp_size / cycles);
                break;
            case Resource::shared:
                if (is_gap)
                    set(&trimtab_device::shared_bytes_per_clock, "shared_bytes_per_clock",
                        d.warp_size * 4 / cycles);
                else
                    set(&trimtab_device::latency_shared_cycles, "latency_shared_cycles", cycles);
                break;
            case Resource::l1:
                if (!is_gap) set(&trimtab_device::latency_l1_cycles, "latency_l1_cycles", cycles);
                break;
            case Resource::l2:
                if (is_gap)
                    set(&trimtab_device::l2_bytes_per_clock, "l2_bytes_per_clock",
                        64 * d.sm_count / (architecture.l2_share.value * cycles));
                else
                    set(&trimtab_device::latency_l2_cycles, "latency_l2_cycles", cycles);
                break;
            case Resource::dram:
                if (is_gap)
                    set(&trimtab_device::dram_bytes_per_s, "dram_bytes_per_s",
                        32 * d.sm_count * d.sm_clock_hz / (architecture.dram_share.value * cycles));
                else
                    set(&trimtab_device::latency_dram_cycles, "latency_dram_cycles", cycles);
                break;
            case Resource::conversion:
            case Resource::tensor:
            case Resource::branch:
            case Resource::barrier:
            case Resource::collective:
            case Resource::constant:
            case Resource::texture:
            case Resource::atomic:
            case Resource::issue:
                break;
        }
    }
    return device;
}

std::optional<Settings::Number> in_machine_code(const Settings& settings) {
    for (const Settings::Number& number : settings.numbers) {
        if (number.is_gap) continue;
        switch (number.resource) {
            case Resource::fp32:
            case Resource::fp64:
            case Resource::fp16:
            case Resource::integer:
            case Resource::tensor:
            case Resource::branch:
                return number;
            default:
                break;
        }
    }
    return std::nullopt;
}

}  // namespace trimtab::schedule
