#include "opencl/platform/work_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/occupancy.h"

namespace trimtab::opencl {

std::size_t largest_work_group(const _cl_device_id& device, const trimtab_image& image) {
    const trimtab_device& values = device.description.values;
    auto most = static_cast<std::uint32_t>(values.max_threads_per_block);
    if (image.max_threads_per_block > 0)
        most = std::min(most, static_cast<std::uint32_t>(image.max_threads_per_block));
    const auto warp = static_cast<std::uint32_t>(values.warp_size);
    while (most > warp && model::occupancy(values, image, most, 0).blocks_per_sm == 0) most -= warp;
    return most;
}

std::string attributes_of(const KernelInfo& kernel) {
    std::string out;
    const auto add = [&](const char* name, const std::array<std::uint32_t, 3>& size) {
        if (size[0] == 0) return;
        out += fmt::format("{}{}({},{},{})", out.empty() ? "" : " ", name, size[0], size[1], size[2]);
    };
    add("reqd_work_group_size", kernel.required_size);
    add("work_group_size_hint", kernel.size_hint);
    return out;
}

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

Size3 open_work_group(const Size3& global, const KernelInfo& kernel, const trimtab_device& device,
                      std::size_t largest) {
    const std::size_t limits[3] = {static_cast<std::size_t>(device.max_block_x),
                                   static_cast<std::size_t>(device.max_block_y),
                                   static_cast<std::size_t>(device.max_block_z)};
    if (const auto& hint = kernel.size_hint; hint[0] != 0) {
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
