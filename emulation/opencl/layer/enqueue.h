// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch on its way to the driver.
#pragma once

#include "emulation/opencl/layer/records.h"

namespace trimtab::opencl {

// As the program wrote it.
struct Range {
    cl_uint dimensions = 0;
    const std::size_t* offset = nullptr;
    const std::size_t* global = nullptr;
    const std::size_t* local = nullptr;  // null: it is left open
};

struct Launch {
    cl_command_queue queue = nullptr;
    cl_kernel kernel = nullptr;
    Range range;
    cl_uint wait_count = 0;
    const cl_event* wait_list = nullptr;
    cl_event* event = nullptr;

    // To the driver.
    [[nodiscard]] cl_int send(const std::size_t* global, const std::size_t* local) const {
        return Records::instance().next->clEnqueueNDRangeKernel(queue, kernel, range.dimensions, range.offset,
                                                                global, local, wait_count, wait_list, event);
    }
};

// With another work-group, or a larger global size behind whose guards nothing happens, where that is legal and
// predicted to be faster; else as it is.
[[nodiscard]] cl_int enqueue(const Launch& launch);

}  // namespace trimtab::opencl
