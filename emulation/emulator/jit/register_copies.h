// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of large functions on their way between a warp's frame and the room where compiled code keeps
// them: told by tables, since code for each of them at each way in and out would be most of the function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator::jit {

struct RegisterCopy {
    enum class Kind : std::uint8_t { general, uniform, pattern, runs };
    std::uint32_t frame_offset = 0;
    std::uint32_t room_offset =
        0;                      // of all lanes; uniform, pattern: of lane 0's value; runs: of each's first
    std::uint32_t pattern = 0;  // of 64-bit offsets of lanes from those: bytes behind the first RegisterCopy
    std::uint8_t bytes = 0;     // of a lane; 0: a predicate, a bit each
    Kind kind = Kind::general;
    std::uint16_t run_lanes = 0;
};
static_assert(sizeof(RegisterCopy) == 16);

// `list`: how many, and which of `copies`. To the frame: only `lanes`; what the others have is another
// path's.
void save_registers(std::byte* frame, std::uint32_t lanes, const std::byte* room, const RegisterCopy* copies,
                    const std::uint32_t* list) noexcept;
void restore_registers(const std::byte* frame, std::uint32_t lanes, std::byte* room,
                       const RegisterCopy* copies, const std::uint32_t* list) noexcept;

}  // namespace trimtab::emulator::jit
