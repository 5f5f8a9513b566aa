// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two ways in which the driver API and graphs take a kernel's arguments: a pointer to each, or one
// buffer.
#pragma once

#include <array>

#include "runtime/launches/launcher.h"

namespace trimtab::runtime {

constexpr std::size_t max_packed_arguments = 128;
using ArgumentPointers = std::array<void*, max_packed_arguments>;

// Sets shape.arguments, which may point into `pointers`. Not null: why the launch must go out as written.
// `kernel` may be null: then nothing is decided of it.
[[nodiscard]] const char* point_at_arguments(Launcher& launcher, RegisteredKernel* kernel, void** arguments,
                                             void** extra, ArgumentPointers& pointers,
                                             choosing::LaunchShape& shape);

}  // namespace trimtab::runtime
