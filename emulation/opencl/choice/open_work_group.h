// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work-group of a launch that leaves it open, before anything is chosen for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trimtab/driver.h"

namespace trimtab::opencl {

using Size3 = std::array<std::size_t, 3>;
// A size that divides the global size: the kernel's hint (zeros: it has none) where that does, else whole warps, 256
// work-items at most, long in x. No model has chosen it.
[[nodiscard]] Size3 open_work_group(const Size3& global, const std::array<std::uint32_t, 3>& hint,
                                    const trimtab_device& device, std::size_t largest);

}  // namespace trimtab::opencl
