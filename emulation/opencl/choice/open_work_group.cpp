// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/choice/open_work_group.h"

#include <algorithm>

namespace trimtab::opencl {

namespace {

// The largest divisor up to `most`; one of whole multiples of `unit` first.
std::size_t divisor(std::size_t size, std::size_t most, std::size_t unit) {
    std::size_t any = 1;
    for (std::size_t d = std::min(size, most); d > 1; --d) {
        if (size % d != 0) continue;
        if (d % unit == 0) return d;
        any = std::max(any, d);
    }
    return any;
}

}  // namespace

Size3 open_work_group(const Size3& global, const std::array<std::uint32_t, 3>& hint,
                      const trimtab_device& device, std::size_t largest) {
    const std::size_t limits[3] = {static_cast<std::size_t>(device.max_block_x),
                                   static_cast<std::size_t>(device.max_block_y),
                                   static_cast<std::size_t>(device.max_block_z)};
    if (hint[0] != 0) {
        bool fits = std::size_t{hint[0]} * hint[1] * hint[2] <= largest;
        for (std::size_t d = 0; d < 3; ++d)
            fits = fits && hint[d] > 0 && global[d] % hint[d] == 0 && hint[d] <= limits[d];
        if (fits) return {hint[0], hint[1], hint[2]};
    }
    constexpr std::size_t wanted = 256;
    std::size_t left = std::min(wanted, largest);
    Size3 local{1, 1, 1};
    for (std::size_t d = 0; d < 3 && left > 1; ++d) {
        local[d] = divisor(global[d], std::min(left, limits[d]),
                           d == 0 ? static_cast<std::size_t>(device.warp_size) : 1);
        left /= local[d];
    }
    return local;
}

}  // namespace trimtab::opencl
