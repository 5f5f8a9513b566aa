// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters from the emulator: runs sampled blocks on memory that is made up as it is touched.
#pragma once

#include <memory>

#include "emulation/emulator/exec/launch.h"
#include "profiler/backend.h"

namespace trimtab::profiler {

// One backend for all kernels of `program`. `threads`: host threads a launch may use.
[[nodiscard]] std::unique_ptr<Backend> make_emulator_backend(std::shared_ptr<emulator::Program> program,
                                                             unsigned threads = 1);

}  // namespace trimtab::profiler
