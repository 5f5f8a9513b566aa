// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that are computed lane by lane: rare ones, odd types, directed rounding.
#pragma once

#include <cstdint>

#include "core/ptx/module.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator {

// The function, and what it needs to know beyond its operands (Op::imm); nullptr: there is none.
struct ScalarChoice {
    ScalarFunction function = nullptr;
    std::uint64_t imm = 0;
};
[[nodiscard]] ScalarChoice scalar_space_test(const ptx::Instruction& instruction);
[[nodiscard]] ScalarChoice scalar_real(const ptx::Instruction& instruction);
[[nodiscard]] ScalarChoice scalar_half(const ptx::Instruction& instruction);
[[nodiscard]] ScalarChoice scalar_conversion(const ptx::Instruction& instruction);
[[nodiscard]] ScalarChoice scalar_fp8(const ptx::Instruction& instruction);
[[nodiscard]] ScalarChoice scalar_pack(const ptx::Instruction& instruction);
[[nodiscard]] ScalarChoice scalar_comparison(const ptx::Instruction& instruction,
                                             bool upper = false);  // setp on pairs

}  // namespace trimtab::emulator
