// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of work-groups that a kernel may have.
#pragma once

#include <cstddef>
#include <string>

#include "emulation/opencl/front_end/front_end.h"
#include "emulation/opencl/platform/device.h"
#include "trimtab/driver.h"

namespace trimtab::opencl {

// Work-items: what the device and the registers allow.
[[nodiscard]] std::size_t largest_work_group(const _cl_device_id& device, const trimtab_image& image);
// "reqd_work_group_size(16,16,1)", as CL_KERNEL_ATTRIBUTES has it.
[[nodiscard]] std::string attributes_of(const KernelInfo& kernel);

}  // namespace trimtab::opencl
