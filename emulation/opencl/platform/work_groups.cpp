// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/platform/work_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/occupancy.h"

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
    if (!kernel.vector_hint.empty())
        out += fmt::format("{}vec_type_hint({})", out.empty() ? "" : " ", kernel.vector_hint);
    return out;
}

}  // namespace trimtab::opencl
