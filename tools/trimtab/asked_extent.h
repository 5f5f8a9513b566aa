// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads that a launch of the command line has, before any block is chosen.
#pragma once

#include <expected>
#include <span>
#include <string>

#include "tools/trimtab/launch_options.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::tools {

// A block as a programmer could have written it that makes just this extent: the legality rule is about changing a
// launch, and a search starts without one.
struct WrittenLaunch {
    trimtab_dim3 grid, block;
};
[[nodiscard]] WrittenLaunch written_launch(const analysis::KernelDescription& kernel, trimtab_dim3 extent,
                                           const trimtab_device& device);

// `text` as --extent has it, or where it is empty the values that the kernel's guards compare the global indices with.
[[nodiscard]] std::expected<trimtab_dim3, Error> asked_extent(const std::string& text,
                                                              const LaunchQuestion& question,
                                                              std::span<const double> data);

}  // namespace trimtab::tools
