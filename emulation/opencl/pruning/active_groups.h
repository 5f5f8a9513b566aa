// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many work-groups a multiprocessor has at once: section 5.1.1.
#pragma once

#include <cstdint>

#include "trimtab/driver.h"

namespace trimtab::pruning {

struct ActiveGroups {
    std::uint32_t by_architecture = 0;  // equation (1)
    std::uint32_t by_registers = 0;     // (3)
    std::uint32_t by_local_memory = 0;  // (5)
    std::uint32_t groups = 0;           // (7); 0: the group cannot be launched
    std::uint32_t warps_per_group = 0;  // (2)

    [[nodiscard]] std::uint32_t warps() const { return groups * warps_per_group; }  // (9)
};

// `group`: work items. What a description lacks of the paper's parameters: a group's registers (B_reg_wg) are those of one
// block at most, and a group needs all of its warps' registers at once.
[[nodiscard]] ActiveGroups active_groups(const trimtab_device& device, const trimtab_image& image,
                                         std::uint32_t group, double dynamic_local_bytes);

}  // namespace trimtab::pruning
