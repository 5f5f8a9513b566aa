// Instructions that are computed lane by lane: rare ones, odd types, directed rounding.
#pragma once

#include <cstdint>

#include "emulator/exec/op.h"
#include "ptx/module.h"

namespace trimtab::emulator {

// The function, and what it needs to know beyond its operands (Op::imm); nullptr: there is none.
struct LaneChoice {
    LaneFunction function = nullptr;
    std::uint64_t imm = 0;
};
[[nodiscard]] LaneChoice integer_lane_function(const ptx::Instruction& instruction);
[[nodiscard]] LaneChoice real_lane_function(const ptx::Instruction& instruction);
[[nodiscard]] LaneChoice half_lane_function(const ptx::Instruction& instruction);
[[nodiscard]] LaneChoice conversion_lane_function(const ptx::Instruction& instruction);
[[nodiscard]] LaneChoice fp8_lane_function(const ptx::Instruction& instruction);
[[nodiscard]] LaneChoice pack_lane_function(const ptx::Instruction& instruction);
[[nodiscard]] LaneChoice comparison_lane_function(const ptx::Instruction& instruction,
                                                  bool upper = false);  // setp on pairs

}  // namespace trimtab::emulator
