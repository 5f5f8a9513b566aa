// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A profile: the low-level metrics of one kernel, measured at chosen points (D, P) by a backend. This is
// member "profile" of a kernel's record (include/trimtab/section.h).
//
// JSON: {"abi": 1, "kernel": id, "backend": {"name", "version"}, "data": ["NI", ..], "varied": [true, ..],
// "ranges": as in fits, "element_bytes": [4], "metrics": [names], "points": [{"data": [..], "box": [x, y, z],
// "held_out", "values": [..]}], "data_dependent": ["load_requests", ..], "warp_instructions"}, "levels":
// [{"data": [..], "held_out", "why": "odd: .."}] where they are known, "strides" and "pitches": [indices in "data"],
// "special": [[index in "data", value], ..] and "left_out", where there are any, and "blocks_cooperate": true where it is.
// A point's values are in the order of "metrics", null where it has none.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/model/metrics.h"
#include "profiler/index_ranges.h"
#include "profiler/special_values.h"
#include "trimtab/error.h"

namespace trimtab::base {
class JsonValue;
}

namespace trimtab::profiler {

inline constexpr unsigned profile_abi = 1;

// Sizes at which points were planned.
struct PlanLevel {
    std::vector<double>
        data;  // D with all sizes at this level, none below that of the one before; extents follow
    bool held_out = false;
    std::string why;
    friend bool operator==(const PlanLevel&, const PlanLevel&) = default;
};

struct ProfilePoint {
    std::vector<double> data;     // D, in the description's order
    std::array<double, 3> box{};  // threads: a block, or several blocks side by side
    bool held_out = false;        // the fits are checked on it, not made from it
    // A box of several blocks has footprint_sectors alone.
    std::array<std::optional<double>, model::metric_count> metrics{};
    // A launch of a few iterations tells what a warp executes, and not what it touches.
    [[nodiscard]] bool counts_alone() const {
        return metrics[static_cast<std::size_t>(model::Metric::warp_instructions)] &&
               !metrics[static_cast<std::size_t>(model::Metric::load_sectors)];
    }
    friend bool operator==(const ProfilePoint&, const ProfilePoint&) = default;
};

struct Profile {
    std::string kernel_id;
    std::string backend_name, backend_version;
    std::vector<std::string> data_names;
    // Alongside: not false where another value at a launch is as good as those profiled: the points hold
    // several, or it was seen not to matter.
    std::vector<bool> varied;
    // Of the data: neighbouring threads' accesses lie so far apart. A point is of a layout: some strides are 1 there, so
    // that neighbours share sectors, and the others so large that they do not.
    std::vector<std::uint32_t> strides;
    std::vector<std::uint32_t> pitches;  // where there are strides: these only move addresses, as those do
    std::vector<SpecialValue> special;   // of flags and modes, ascending
    IndexRanges ranges;
    std::vector<std::uint32_t> element_bytes;  // sizes of what the kernel's pointers point to, ascending
    // An annotation answers for the blocks: what a warp does may depend on its block's size in any way.
    bool blocks_cooperate = false;
    std::vector<PlanLevel> levels;
    std::vector<ProfilePoint> points;
    std::vector<model::Metric> data_dependent;  // they changed with the contents of the arrays
    std::uint64_t warp_instructions = 0;        // that the backend ran for it
    std::uint32_t left_out = 0;                 // points of the plan that would have taken too long
    friend bool operator==(const Profile&, const Profile&) = default;
};

[[nodiscard]] nlohmann::json to_json(const Profile& profile);
[[nodiscard]] std::expected<Profile, Error> profile_from_json(const nlohmann::json& json,
                                                              const std::string& origin);

// Linear forms and ranges, as profiles and fits both write them.
[[nodiscard]] nlohmann::json to_json(const IndexRanges& ranges);
// `data_count`: of D. Throws base::Malformed.
[[nodiscard]] IndexRanges ranges_from(const base::JsonValue& value, std::size_t data_count);

}  // namespace trimtab::profiler
