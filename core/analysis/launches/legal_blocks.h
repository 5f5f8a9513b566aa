// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch-time half of the re-blocking rule: which blocks may replace the one written, for these very
// arguments.
#pragma once

#include <expected>
#include <string>

#include "core/analysis/launches/description.h"
#include "trimtab/driver.h"

namespace trimtab::analysis {

// Decides from the guards, by intervals, with the arguments of the launch: a dimension whose guard is shown
// to turn every index from the extent up to extent + max_block - 1 away is covering; else it is dividing. A
// dimension that the kernel never reads stays 1 (and must be 1 as written). The error says in one line why
// the launch must go out exactly as written. The largest grid and block come from the device.
[[nodiscard]] std::expected<trimtab_limits, std::string> legal_blocks(const KernelDescription& description,
                                                                      ArgumentBytes arguments,
                                                                      trimtab_dim3 grid, trimtab_dim3 block,
                                                                      const trimtab_device& device,
                                                                      const trimtab_image& image);

// The same for a launch with another number of threads, where a kernel with grid-stride loops may have one.
[[nodiscard]] std::expected<trimtab_limits, std::string> legal_blocks_of_total(
    const KernelDescription& description, ArgumentBytes arguments, trimtab_dim3 grid, trimtab_dim3 block,
    const trimtab_device& device, const trimtab_image& image, trimtab_dim3 extent);

// The same for a launch of another body of the kernel, which `description` and `image` are of (docs/variants.md):
// that the block as written has more threads than it may have says nothing.
[[nodiscard]] std::expected<trimtab_limits, std::string> legal_blocks_of_body(
    const KernelDescription& description, ArgumentBytes arguments, trimtab_dim3 grid, trimtab_dim3 block,
    const trimtab_device& device, const trimtab_image& image);

// Does `block` keep the limits? The same rule as the driver programs' own search.
[[nodiscard]] bool is_legal(const trimtab_limits& limits, trimtab_dim3 block);
[[nodiscard]] trimtab_dim3 covering_grid(const trimtab_limits& limits, trimtab_dim3 block);

// The image that a device of this compute capability runs: the highest architecture not above it, as the CUDA
// driver picks; where all are above it (a description for an older GPU), the lowest, as a proxy.
[[nodiscard]] const KernelImage& image_for(const KernelDescription& description, unsigned compute_capability);
[[nodiscard]] trimtab_image to_driver_image(const KernelImage& image);

}  // namespace trimtab::analysis
