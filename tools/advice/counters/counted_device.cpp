// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/counted_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tools/advice/counters/quantities.h"

namespace trimtab::advice {
namespace {

std::optional<double> sms_of(const CountedLaunch& launch) {
    for (const std::string_view metric : {"launch__sm_count", "device__attribute_multiprocessor_count"})
        if (const auto found = launch.values.find(metric); found != launch.values.end()) return found->second;
    return std::nullopt;
}

// Bytes a second that memory could have moved, by those that it did and the share that this is said to be.
std::optional<double> peak_of(const CountedLaunch& launch) {
    const auto moved = Quantities(launch.values).find("dram_bytes");
    const auto time = Quantities(launch.values).find("time");
    const auto used = used_resources(launch.values);
    const auto share = std::ranges::find(used, "dram", &UsedResource::name);
    constexpr double enough = 0.1;  // rounding would be much of a smaller one
    if (!moved || !time || !(*time > 0) || share == used.end() || share->share < enough) return std::nullopt;
    return *moved / *time / share->share;
}

std::vector<const model::Device*> like(const CountedLaunch& launch) {
    const auto sms = sms_of(launch), peak = peak_of(launch);
    std::vector<const model::Device*> out;
    for (const model::Device& device : model::devices())
        if (device.values.compute_capability == launch.compute_capability &&
            (!sms || device.values.sm_count == *sms))
            out.push_back(&device);
    if (!peak) return out;
    constexpr double near = 0.05;
    std::vector<const model::Device*> as_fast = out;
    std::erase_if(as_fast, [&](const model::Device* device) {
        return std::abs(std::log(device->values.dram_bytes_per_s / *peak)) > near;
    });
    return as_fast.empty() ? out : as_fast;
}

}  // namespace

std::expected<model::Device, Error> counted_device(const CountedLaunch& launch, const std::string& origin) {
    // A name, not a file to read.
    if (!launch.device.ends_with(".json"))
        if (auto named = model::find_device(launch.device)) return named;
    const unsigned capability = launch.compute_capability;
    const std::string of = fmt::format("a GPU of compute capability {}.{}", capability / 10, capability % 10);
    if (capability == 0)
        return std::unexpected(
            Error{.message = "does not say which GPU was counted: say it with --device", .file = origin});
    const std::vector<const model::Device*> candidates = like(launch);
    const auto sms = sms_of(launch);
    if (candidates.size() == 1) return *candidates.front();
    if (candidates.empty())
        return std::unexpected(Error{
            .message =
                fmt::format("is of {}{}, which no description is of: say --device, with a GPU like it or a "
                            "file that trimtab calibrate wrote",
                            of, sms ? fmt::format(" with {:g} SMs", *sms) : ""),
            .file = origin});
    std::string names;
    for (const model::Device* device : candidates) names += (names.empty() ? "" : ", ") + device->slug;
    return std::unexpected(Error{
        .message = fmt::format("is of {}: say which with --device, as of {}", of, names), .file = origin});
}

}  // namespace trimtab::advice
