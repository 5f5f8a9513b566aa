// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/pruning/null_size.h"

#ifdef TRIMTAB_HAS_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <memory>
#include <type_traits>
#endif

namespace trimtab::bench {

#ifdef TRIMTAB_HAS_OPENCL

namespace {

template <auto release>
struct Release {
    template <class Handle>
    void operator()(Handle handle) const {
        release(handle);
    }
};
template <class Handle, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<release>>;

}  // namespace

std::optional<trimtab_dim3> null_size(trimtab_dim3 global, unsigned dimensions) {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
        return std::nullopt;
    const Owned<cl_context, clReleaseContext> context(
        clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
    if (!context) return std::nullopt;
    const Owned<cl_command_queue, clReleaseCommandQueue> queue(
        clCreateCommandQueue(context.get(), device, 0, nullptr));
    const char* const source =
        "__kernel void size(__global uint *out) { if (get_global_id(0) + get_global_id(1) + get_global_id(2) "
        "== 0)"
        " { out[0] = get_local_size(0); out[1] = get_local_size(1); out[2] = get_local_size(2); } }";
    const Owned<cl_program, clReleaseProgram> program(
        clCreateProgramWithSource(context.get(), 1, const_cast<const char**>(&source), nullptr, nullptr));
    if (!queue || !program || clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr) != CL_SUCCESS)
        return std::nullopt;
    const Owned<cl_kernel, clReleaseKernel> kernel(clCreateKernel(program.get(), "size", nullptr));
    std::array<cl_uint, 3> out{};
    const Owned<cl_mem, clReleaseMemObject> buffer(
        clCreateBuffer(context.get(), CL_MEM_READ_WRITE, sizeof(out), nullptr, nullptr));
    if (!kernel || !buffer) return std::nullopt;
    cl_mem argument = buffer.get();
    const std::array<std::size_t, 3> sizes{global.x, global.y, global.z};
    if (clSetKernelArg(kernel.get(), 0, sizeof(cl_mem), static_cast<const void*>(&argument)) != CL_SUCCESS ||
        clEnqueueNDRangeKernel(queue.get(), kernel.get(), dimensions, nullptr, sizes.data(), nullptr, 0,
                               nullptr, nullptr) != CL_SUCCESS ||
        clEnqueueReadBuffer(queue.get(), argument, CL_TRUE, 0, sizeof(out), out.data(), 0, nullptr,
                            nullptr) != CL_SUCCESS)
        return std::nullopt;
    return trimtab_dim3{out[0], out[1], out[2]};
}

#else

std::optional<trimtab_dim3> null_size(trimtab_dim3 /*global*/, unsigned /*dimensions*/) {
    return std::nullopt;
}

#endif

}  // namespace trimtab::bench
