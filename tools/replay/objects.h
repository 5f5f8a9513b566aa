// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A captured launch's texture and surface objects, under the handles that it knows.
#pragma once

#include <expected>
#include <span>

#include "emulation/emulator/capture/capture.h"
#include "emulation/emulator/capture/moved_pointers.h"

namespace trimtab::tools {

// Once the memory is where it was, and `moved` are the variables that are not. After the first call of CUDA, which
// loads the emulator: no other runtime takes objects that it has not made.
[[nodiscard]] std::expected<void, Error> place_objects(
    const emulator::capture::Capture& captured, std::span<const emulator::capture::MovedVariable> moved);

}  // namespace trimtab::tools
