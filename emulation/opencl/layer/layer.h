// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between a program and any driver: sees what is given to that, and hands it on.
#pragma once

#include "emulation/opencl/layer/records.h"

namespace trimtab::opencl {

// As clInitLayer takes it: `target` has `count` entry points.
[[nodiscard]] cl_int put_layer(cl_uint count, const cl_icd_dispatch* target, cl_uint* count_back,
                               const cl_icd_dispatch** table_back);

}  // namespace trimtab::opencl
