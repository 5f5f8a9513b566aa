// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The block that CUDA's occupancy API proposes.
#pragma once

#include <cstdint>

#include "trimtab/driver.h"

namespace trimtab::model {

// The threads of a block that cudaOccupancyMaxPotentialBlockSize answers with: the most of those whose blocks make most
// threads resident; 0: no block can be launched. Its rule is cudaOccMaxPotentialOccupancyBlockSize of cuda_occupancy.h.
[[nodiscard]] std::uint32_t potential_block_threads(const trimtab_device& device, const trimtab_image& image,
                                                    double dynamic_shared_bytes);

}  // namespace trimtab::model
