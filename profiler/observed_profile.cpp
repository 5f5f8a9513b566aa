// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/observed_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "profiler/active_indices.h"
#include "profiler/arguments.h"

namespace trimtab::profiler {
namespace {

using analysis::KernelDescription;
using model::Metric;

// Of the blocks of each data, every so many-th is kept from the fits, to check them.
constexpr std::size_t held_out_step = 5;

// A size whose threads were so many times as many at one launch as at another was varied: blocks that cover the same
// indices differ by less.
constexpr double varied_extent = 2;

double value(const ObservedLaunch& launch, Metric metric) {
    return launch.values[static_cast<std::size_t>(metric)];
}

bool holds_several(const std::vector<ProfilePoint>& points, std::size_t data, bool is_extent) {
    const auto [least, most] =
        std::ranges::minmax(points, {}, [data](const ProfilePoint& point) { return point.data[data]; });
    return is_extent ? most.data[data] >= varied_extent * least.data[data]
                     : most.data[data] > least.data[data];
}

// Is another value as good, whichever was observed?
bool is_free(const KernelDescription& description, const std::vector<ProfilePoint>& points,
             const std::optional<Profile>& planned, std::size_t data) {
    const analysis::DataParameter& parameter = description.data[data];
    if (holds_several(points, data, parameter.is_extent)) return true;
    // What a guard compares the indices with speaks for the extent.
    if (parameter.is_extent &&
        std::ranges::any_of(description.data, [&](const analysis::DataParameter& other) {
            return other.bounds == parameter.dimension;
        }))
        return true;
    return planned && planned->data_names.size() == description.data.size() && planned->varied[data] &&
           !planned->points.empty() && !holds_several(planned->points, data, parameter.is_extent);
}

constexpr std::string_view mark_kind = "observed profiles", mark_key = "mark";

}  // namespace

void keep_observed(ProfileStore& store, std::string_view key, const Profile& profile) {
    if (store.profile(key) == profile) return;
    store.put_profile(key, profile);
    std::uint64_t kept = 0;
    const std::string before = observed_mark(store);
    std::from_chars(before.data(), before.data() + before.size(), kept);
    store.put_blob(mark_kind, mark_key, fmt::format("{}", kept + 1));
}

std::string observed_mark(ProfileStore& store) {
    return store.blob(mark_kind, mark_key).value_or("");
}

std::expected<Profile, Error> observed_profile(const KernelDescription& description,
                                               const std::vector<ObservedLaunch>& launches,
                                               const std::string& version,
                                               const std::optional<Profile>& planned,
                                               const std::optional<Profile>& earlier) {
    Profile profile;
    profile.kernel_id = description.id;
    profile.backend_name = observed_backend;
    profile.backend_version = version;
    profile.element_bytes = element_bytes(description);
    profile.blocks_cooperate =
        description.verdict == analysis::Verdict::annotated || description.keeps_grid();
    for (const analysis::DataParameter& parameter : description.data)
        profile.data_names.push_back(parameter.name);

    std::vector<std::vector<double>> data;
    std::vector<std::array<Indices, 3>> indices;
    std::map<std::vector<double>, std::size_t> seen;  // blocks by data, extents left out
    const auto add = [&](ProfilePoint point) {
        const bool is_there = std::ranges::any_of(profile.points, [&](const ProfilePoint& one) {
            // A box of several blocks may be as large as another block.
            return one.data == point.data && one.box == point.box &&
                   one.metrics.front().has_value() == point.metrics.front().has_value();
        });
        if (!is_there) profile.points.push_back(std::move(point));
    };
    for (const ObservedLaunch& launch : launches) {
        if (value(launch, Metric::active_blocks) <= 0) continue;  // nothing to learn from
        std::uint32_t bytes = 0;
        for (const analysis::KernelParameter& parameter : description.parameters)
            bytes = std::max(bytes, parameter.offset + parameter.size);
        if (launch.parameters.size() < bytes)
            return std::unexpected(Error{
                .message = fmt::format("a launch of {} has {} bytes of arguments, and its description {}",
                                       description.demangled, launch.parameters.size(), bytes)});
        ProfilePoint point;
        point.data = analysis::data_values(description, launch.parameters,
                                           description.counted_extent(launch.grid, launch.block));
        point.box = {double(launch.block.x), double(launch.block.y), double(launch.block.z)};
        std::vector<double> sizes;
        for (std::size_t i = 0; i < point.data.size(); ++i)
            if (!description.data[i].is_extent) sizes.push_back(point.data[i]);
        point.held_out = ++seen[sizes] % held_out_step == 0;
        for (const ObservedLaunch::Box& box : launch.boxes) {
            ProfilePoint larger{
                .data = point.data, .box = box.threads, .held_out = point.held_out, .metrics = {}};
            larger.metrics[static_cast<std::size_t>(Metric::footprint_sectors)] = box.footprint_sectors;
            if (larger.box != point.box) add(std::move(larger));
        }
        for (std::size_t m = 0; m < model::metric_count; ++m) point.metrics[m] = launch.values[m];
        data.push_back(point.data);
        indices.push_back(active_indices(description, {.bytes = launch.parameters, .pointers = {}}));
        add(std::move(point));
    }
    if (profile.points.empty())
        return std::unexpected(
            Error{.message = fmt::format("no launch of {} did anything", description.demangled)});
    const bool goes_on = earlier && earlier->backend_name == observed_backend &&
                         earlier->backend_version == version && earlier->data_names == profile.data_names;
    if (goes_on) {
        for (const ProfilePoint& point : earlier->points) {
            const std::array<double, 6> ends = earlier->ranges.evaluate(point.data);
            std::array<Indices, 3> there;
            for (std::size_t d = 0; d < 3; ++d)
                there[d] = {.first = static_cast<std::uint64_t>(ends[2 * d]),
                            .end = static_cast<std::uint64_t>(ends[2 * d + 1])};
            data.push_back(point.data);
            indices.push_back(there);
            add(point);
        }
    }
    profile.ranges = index_ranges(description, data, indices);
    for (std::size_t i = 0; i < description.data.size(); ++i)
        profile.varied.push_back(is_free(description, profile.points, planned, i));
    return profile;
}

}  // namespace trimtab::profiler
