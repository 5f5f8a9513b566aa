// The sizes of work-groups: what a kernel may have, and what a launch gets that leaves it open.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "opencl/front_end/front_end.h"
#include "opencl/platform/device.h"
#include "trimtab/driver.h"

namespace trimtab::opencl {

// Work-items: what the device and the registers allow.
[[nodiscard]] std::size_t largest_work_group(const _cl_device_id& device, const trimtab_image& image);
// "reqd_work_group_size(16,16,1)", as CL_KERNEL_ATTRIBUTES has it.
[[nodiscard]] std::string attributes_of(const KernelInfo& kernel);

using Size3 = std::array<std::size_t, 3>;
// A size that divides the global size: the kernel's hint where that does, else whole warps, 256 work-items at most, long
// in x. Not chosen by any model.
[[nodiscard]] Size3 open_work_group(const Size3& global, const KernelInfo& kernel,
                                    const trimtab_device& device, std::size_t largest);

}  // namespace trimtab::opencl
