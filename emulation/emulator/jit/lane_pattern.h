// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the thread index runs over the lanes of a warp: what compiled code is specialised for.
#pragma once

#include <array>
#include <cstdint>

#include "emulation/emulator/exec/op.h"
#include "trimtab/driver.h"

namespace trimtab::emulator::jit {

// One dimension of %tid. Where `known`, lane i of every warp has the value of lane 0 plus offset[i].
struct LanePattern {
    bool known = false;
    std::array<std::uint32_t, warp_lanes> offset{};
    friend auto operator<=>(const LanePattern&, const LanePattern&) = default;
};

struct LanePatterns {
    std::array<LanePattern, 3> tid;  // x, y, z
    friend auto operator<=>(const LanePatterns&, const LanePatterns&) = default;
};

[[nodiscard]] LanePatterns lane_patterns(const trimtab_dim3& block);

}  // namespace trimtab::emulator::jit
