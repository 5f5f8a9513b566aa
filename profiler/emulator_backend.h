// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters from the emulator: runs sampled blocks on memory that is made up as it is touched.
#pragma once

#include <memory>
#include <string_view>

#include "emulation/emulator/exec/launch.h"
#include "profiler/backend.h"

namespace trimtab::profiler {

// One backend for all kernels of `program`, which is there. `threads`: host threads a launch may use.
[[nodiscard]] std::unique_ptr<Backend> make_emulator_backend(std::shared_ptr<emulator::Program> program,
                                                             unsigned threads = 1);
// Of every such backend: changes whenever a count may change.
[[nodiscard]] std::string_view emulator_backend_version();

}  // namespace trimtab::profiler
