// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binary16 and bfloat16 by way of binary64, which holds every sum, product and fused multiply-add of theirs
// closely enough to be rounded once more without harm where it is exact.
#pragma once

#include <cstdint>

#include "core/ptx/types.h"

namespace trimtab::emulator {

[[nodiscard]] double half_to_real(std::uint16_t bits);
[[nodiscard]] double bfloat_to_real(std::uint16_t bits);
// Rounds in one of rn, rz, rm, rp; NaN becomes 0x7fff.
[[nodiscard]] std::uint16_t real_to_half(double value, ptx::Rounding rounding = ptx::Rounding::rn);
[[nodiscard]] std::uint16_t real_to_bfloat(double value, ptx::Rounding rounding = ptx::Rounding::rn);
// 8-bit floats: e5m2, else e4m3 (PTX ISA, "Alternate Floating-Point Data Formats").
[[nodiscard]] double fp8_to_real(std::uint8_t bits, bool e5m2);
// A value of a format of `significand` bits (the hidden one included) with exponents from `min_exponent`
// (of the least normal number), rounded; overflow is left to the caller.
[[nodiscard]] double round_to_format(double value, int significand, int min_exponent, ptx::Rounding rounding);

}  // namespace trimtab::emulator
