// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The other bodies of a kernel (docs/variants.md): a launch may become one of another body, by that body's own
// annotation and driver program.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "choosing/choices/choose.h"

namespace trimtab::choosing {

// The launches that the body's annotation states in the place of the one written, `most` of them at most; none where
// the launch as written is not what `own` states, or nothing is stated of memory that it uses.
[[nodiscard]] std::vector<LaunchConfiguration> launches_of_body(const analysis::KernelDescription& own,
                                                                const OtherBody& body,
                                                                const trimtab_device& device,
                                                                const LaunchShape& shape, std::size_t most);

// `decision`, which is of choose() for the same launch, or the launch of another body that is predicted to take less
// of the time as written than 1 - `least_gain`, and less than what was chosen. Decision::body is its place, from 1.
[[nodiscard]] Decision with_best_body(Decision decision, const analysis::KernelDescription& own,
                                      std::span<const OtherBody> bodies, const trimtab_device& device,
                                      const LaunchShape& shape, double least_gain);

// May a launch have the block of the body that an earlier process chose? Its launch, if so.
[[nodiscard]] std::optional<LaunchConfiguration> launch_of_body(const analysis::KernelDescription& own,
                                                                const OtherBody& body,
                                                                const trimtab_device& device,
                                                                const LaunchShape& shape, trimtab_dim3 block);

}  // namespace trimtab::choosing
