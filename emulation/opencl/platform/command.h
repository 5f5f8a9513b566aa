// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the entry points that enqueue have in common.
#pragma once

#include "emulation/opencl/platform/event.h"
#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/memory.h"

namespace trimtab::opencl {

// The last arguments of every such call.
struct Tail {
    cl_uint wait_count = 0;
    const cl_event* wait_list = nullptr;
    cl_event* event = nullptr;
};

[[nodiscard]] inline Submission submission_of(cl_command_queue queue, cl_command_type type, const Tail& tail,
                                              bool is_blocking = false) {
    return {.queue = queue,
            .type = type,
            .wait_count = tail.wait_count,
            .wait_list = tail.wait_list,
            .event = tail.event,
            .is_blocking = is_blocking};
}

// A buffer that commands of this queue may take: 0 or an error.
[[nodiscard]] inline cl_int check_buffer(const _cl_command_queue& queue, const _cl_mem* memory) {
    if (!is_buffer(memory)) return CL_INVALID_MEM_OBJECT;
    return memory->context.get() == queue.context.get() ? CL_SUCCESS : CL_INVALID_CONTEXT;
}
[[nodiscard]] inline cl_int check_image(const _cl_command_queue& queue, const _cl_mem* memory) {
    if (!is_image(memory)) return CL_INVALID_MEM_OBJECT;
    return memory->context.get() == queue.context.get() ? CL_SUCCESS : CL_INVALID_CONTEXT;
}
[[nodiscard]] inline bool host_may_read(const _cl_mem& memory) {
    return (memory.flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
}
[[nodiscard]] inline bool host_may_write(const _cl_mem& memory) {
    return (memory.flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
}
[[nodiscard]] inline bool lies_within(std::size_t offset, std::size_t size, std::size_t whole) {
    return offset <= whole && size <= whole - offset;
}

}  // namespace trimtab::opencl
