// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL's host side as programs use it, for tests: one device, one queue, what is made is given up again.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trimtab::opencl::test {

template <class Handle, cl_int(CL_API_CALL* give_up)(Handle)>
struct GiveUp {
    using pointer = Handle;
    void operator()(Handle handle) const { give_up(handle); }
};
template <class Handle, cl_int(CL_API_CALL* give_up)(Handle)>
using Owned = std::unique_ptr<Handle, GiveUp<Handle, give_up>>;
using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Memory = Owned<cl_mem, clReleaseMemObject>;
using Program = Owned<cl_program, clReleaseProgram>;
using Kernel = Owned<cl_kernel, clReleaseKernel>;
using Event = Owned<cl_event, clReleaseEvent>;
using Sampler = Owned<cl_sampler, clReleaseSampler>;

// The first device of the platform of that name; null: there is none.
[[nodiscard]] cl_device_id find_device(const std::string& platform_name);

class Host {
  public:
    explicit Host(const std::string& platform = "Trimtab", cl_command_queue_properties properties = 0);

    [[nodiscard]] cl_device_id device() const { return device_; }
    [[nodiscard]] cl_context context() const { return context_.get(); }
    [[nodiscard]] cl_command_queue queue() const { return queue_.get(); }
    [[nodiscard]] Queue new_queue(cl_command_queue_properties properties = 0) const;

    // Built; a failure is the test's, with the log.
    [[nodiscard]] Program build(const std::string& source, const std::string& options = {}) const;
    [[nodiscard]] Program with_source(const std::string& source) const;
    [[nodiscard]] Kernel kernel(const Program& program, const char* name) const;
    [[nodiscard]] std::string log(const Program& program) const;

    template <class T>
    [[nodiscard]] Memory buffer(const std::vector<T>& values, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
        cl_int status = -1;
        Memory memory(clCreateBuffer(context(), flags | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                                     const_cast<T*>(values.data()), &status));
        EXPECT_EQ(status, CL_SUCCESS);
        return memory;
    }
    template <class T>
    [[nodiscard]] std::vector<T> read(const Memory& memory, std::size_t count) const {
        std::vector<T> values(count);
        EXPECT_EQ(clEnqueueReadBuffer(queue(), memory.get(), CL_TRUE, 0, count * sizeof(T), values.data(), 0,
                                      nullptr, nullptr),
                  CL_SUCCESS);
        return values;
    }
    [[nodiscard]] cl_int run(const Kernel& kernel, const std::vector<std::size_t>& global,
                             const std::vector<std::size_t>& local = {},
                             const std::vector<std::size_t>& offset = {}) const;

  private:
    cl_device_id device_ = nullptr;
    Context context_;
    Queue queue_;
};

// Arguments in order: values as they are, memory objects, samplers; Local for local memory.
struct Local {
    std::size_t bytes;
};
inline cl_int set_argument(cl_kernel kernel, cl_uint index, const Memory& memory) {
    cl_mem handle = memory.get();
    return clSetKernelArg(kernel, index, sizeof handle, &handle);
}
inline cl_int set_argument(cl_kernel kernel, cl_uint index, const Sampler& sampler) {
    cl_sampler handle = sampler.get();
    return clSetKernelArg(kernel, index, sizeof handle, &handle);
}
inline cl_int set_argument(cl_kernel kernel, cl_uint index, Local local) {
    return clSetKernelArg(kernel, index, local.bytes, nullptr);
}
template <class T>
cl_int set_argument(cl_kernel kernel, cl_uint index, const T& value) {
    return clSetKernelArg(kernel, index, sizeof value, &value);
}
template <class... Arguments>
void set_arguments(const Kernel& kernel, const Arguments&... arguments) {
    cl_uint index = 0;
    (
        [&] {
            EXPECT_EQ(set_argument(kernel.get(), index, arguments), CL_SUCCESS) << "argument " << index;
            ++index;
        }(),
        ...);
}

}  // namespace trimtab::opencl::test
