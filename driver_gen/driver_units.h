// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver programs as the C compiler gets them: several in one source, with the text that is the same in all of them
// once. Most of the time that a driver program takes to compile is that text's.
#pragma once

#include <span>
#include <vector>

#include "driver_gen/bundle.h"

namespace trimtab::driver_gen {

// Each driver program's own names get its number. Eight to a source, on every machine: an object must not depend on
// how many processors there were.
[[nodiscard]] std::vector<SourceFile> driver_units(std::span<const SourceFile> drivers);

}  // namespace trimtab::driver_gen
