// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a kernel's integers for one warp: what arguments, ids and the iterations of loops decide (section 4.2.1).
//
// A value is a number for each lane. Most are the same sum for all, base + x * tid.x + y * tid.y + z * tid.z, and
// are kept so: an operation on a warp then costs what it costs on a thread. What is no such sum is kept lane by
// lane. Of what memory decides nothing is known, but for what all lanes read from one place: how it differs between
// lanes, which is not at all.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/analysis/launches/operation.h"
#include "core/ptx/types.h"

namespace trimtab::pruning {

inline constexpr unsigned warp_lanes = 32;

// Where a warp's lanes are in their work-group.
struct WarpLanes {
    std::array<std::int32_t, warp_lanes> x{}, y{}, z{};
    std::uint32_t present = 0;  // bit i: lane i has a work item
    std::int32_t least_x = 0, most_x = 0, least_y = 0, most_y = 0, least_z = 0, most_z = 0;

    // Warp `index` of a group, whose items are numbered x first.
    [[nodiscard]] static WarpLanes of(std::array<std::uint32_t, 3> group, std::uint32_t index);
    [[nodiscard]] bool is_row() const { return least_y == most_y && least_z == most_z; }
};

using LaneNumbers = std::array<std::int64_t, warp_lanes>;

struct WarpValue {
    enum class Kind : std::uint8_t {
        unknown,
        sum,       // base + x * tid.x + y * tid.y + z * tid.z
        offset,    // as sum, but that base is not known
        lanes,     // of each lane: where the owner keeps them
        predicate  // base's bits, of each lane
    };
    Kind kind = Kind::unknown;
    std::int64_t base = 0, x = 0, y = 0, z = 0;

    [[nodiscard]] static WarpValue number(std::int64_t value) {
        return {.kind = Kind::sum, .base = value, .x = 0, .y = 0, .z = 0};
    }
    [[nodiscard]] static WarpValue bits(std::uint32_t mask) {
        return {.kind = Kind::predicate, .base = mask, .x = 0, .y = 0, .z = 0};
    }
    [[nodiscard]] bool is_sum() const { return kind == Kind::sum; }
    [[nodiscard]] bool is_uniform() const { return x == 0 && y == 0 && z == 0; }
    [[nodiscard]] bool is_known() const { return kind != Kind::unknown && kind != Kind::offset; }
    [[nodiscard]] std::uint32_t mask() const { return static_cast<std::uint32_t>(base); }
    friend bool operator==(const WarpValue&, const WarpValue&) = default;
};

// A value with its lanes, where it is kept lane by lane.
struct WarpOperand {
    WarpValue value;
    const LaneNumbers* lanes = nullptr;
};

struct ValueRange {
    std::int64_t least = 0, most = 0;
};
[[nodiscard]] ValueRange range_of(const WarpValue& sum, const WarpLanes& lanes);

// `type` says how the bits are read. Lanes that are absent get some number.
void numbers_of(const WarpOperand& operand, ptx::Type type, const WarpLanes& lanes, LaneNumbers& out);

// A sum as the integers that `type` has for its bits; false: it is none over the warp.
[[nodiscard]] bool make_exact(WarpValue& sum, ptx::Type type, const WarpLanes& lanes);

// Applies `operation`; a result of kind lanes goes to `lanes_out`.
[[nodiscard]] WarpValue apply(const analysis::Operation& operation,
                              const std::array<WarpOperand, 3>& operands, const WarpLanes& lanes,
                              LaneNumbers& lanes_out);

// As a sum, where the present lanes' numbers are one; else as kind lanes.
[[nodiscard]] WarpValue compressed(const LaneNumbers& numbers, const WarpLanes& lanes);

// `mask`: lanes that take `a`; the others take `b`. nullopt's place is taken by kind unknown.
[[nodiscard]] WarpValue merged(const WarpOperand& a, const WarpOperand& b, std::uint32_t mask, ptx::Type type,
                               const WarpLanes& lanes, LaneNumbers& lanes_out);

}  // namespace trimtab::pruning
