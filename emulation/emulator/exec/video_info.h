// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a video instruction does with the parts of its operands (PTX ISA, "Scalar Video Instructions" and
// "SIMD Video Instructions").
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/ptx/module.h"

namespace trimtab::emulator {

struct VideoInfo {
    enum class Operation : std::uint8_t {
        add,
        subtract,
        absolute_difference,
        minimum,
        maximum,
        average,
        compare,
        shift_left,
        shift_right,
        multiply_add
    };
    enum class Second : std::uint8_t { none, add, minimum, maximum, merge };

    Operation operation = Operation::add;
    Second second = Second::none;
    ptx::Comparison comparison = ptx::Comparison::none;
    std::uint8_t parts = 1;  // 1: scalar; 2, 4: halves, bytes
    bool a_signed = false, b_signed = false, d_signed = false, saturates = false;
    bool wraps = false;                                               // shifts
    bool negate_product = false, negate_c = false, plus_one = false;  // vmad
    std::uint8_t scale = 0;                                           // vmad: bits to shift right by
    std::uint8_t part_bits = 32;            // SIMD: of a part; scalar: of the result that is merged
    std::uint8_t a_bits = 32, b_bits = 32;  // of a part picked
    std::array<std::uint8_t, 4> a_parts{},
        b_parts{};             // which, counted from a's lowest; SIMD: 2 or 4 ... are b's
    std::uint8_t d_parts = 1;  // SIMD: a mask; scalar: which part is merged into c
};

// nullopt: not as the ISA has it.
[[nodiscard]] std::optional<VideoInfo> video_info(const ptx::Instruction& instruction);
[[nodiscard]] std::uint32_t run_video(const VideoInfo& info, std::uint32_t a, std::uint32_t b,
                                      std::uint32_t c);

}  // namespace trimtab::emulator
