// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What annotations make of a launch: the part of the launch-time rule that the user states.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/model/launch_configuration.h"
#include "trimtab/driver.h"

namespace trimtab::analysis {

using model::LaunchConfiguration;

// Does an annotation state anything of the launch's shape?
[[nodiscard]] bool has_shape_annotations(const KernelDescription& description);

// The launch that the annotations state for a block, whatever the limits: the covering grid and the memory as
// written where they state none. Nothing: they rule the block out, or what they state is no launch.
[[nodiscard]] std::optional<LaunchConfiguration> stated_launch(const KernelDescription& description,
                                                               ArgumentBytes arguments,
                                                               const LaunchConfiguration& written,
                                                               trimtab_dim3 block);

// The launch with `block` in the place of the written one: the grid and shared memory that the annotations
// state, else the covering grid and the memory as written. Nothing: the limits or the annotations rule the
// block out, or what they state is no launch. Of kernels without annotations too.
[[nodiscard]] std::optional<LaunchConfiguration> launch_with_block(const KernelDescription& description,
                                                                   ArgumentBytes arguments,
                                                                   const trimtab_limits& limits,
                                                                   const LaunchConfiguration& written,
                                                                   trimtab_dim3 block);

// D of a launch, of `data` for the launch as written: where an annotation states the grid, the number of
// threads goes with the block.
[[nodiscard]] std::vector<double> data_of_launch(const KernelDescription& description,
                                                 std::vector<double> data, const LaunchConfiguration& launch);

// Empty where the annotations, asked for the block as written, state the very launch as written; else why
// they are no description of it, and it must go out unchanged.
[[nodiscard]] std::string annotation_mismatch(const KernelDescription& description, ArgumentBytes arguments,
                                              const LaunchConfiguration& written);

}  // namespace trimtab::analysis
