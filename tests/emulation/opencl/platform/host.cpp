// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/opencl/platform/host.h"

namespace trimtab::opencl::test {

cl_device_id find_device(const std::string& platform_name) {
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return nullptr;
    std::vector<cl_platform_id> platforms(count);
    if (clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return nullptr;
    for (const cl_platform_id platform : platforms) {
        std::array<char, 256> name{};
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size(), name.data(), nullptr);
        cl_device_id device = nullptr;
        if (name.data() == platform_name &&
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS)
            return device;
    }
    return nullptr;
}

Host::Host(const std::string& platform, cl_command_queue_properties properties)
    : device_(find_device(platform)) {
    cl_int status = -1;
    if (device_ == nullptr) {
        ADD_FAILURE() << "no device of the platform " << platform;
        return;
    }
    context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
    EXPECT_EQ(status, CL_SUCCESS);
    queue_ = new_queue(properties);
}

Queue Host::new_queue(cl_command_queue_properties properties) const {
    cl_int status = -1;
    Queue queue(clCreateCommandQueue(context(), device_, properties, &status));
    EXPECT_EQ(status, CL_SUCCESS);
    return queue;
}

Program Host::with_source(const std::string& source) const {
    const char* text = source.c_str();
    cl_int status = -1;
    Program program(clCreateProgramWithSource(context(), 1, &text, nullptr, &status));
    EXPECT_EQ(status, CL_SUCCESS);
    return program;
}

Program Host::build(const std::string& source, const std::string& options) const {
    Program program = with_source(source);
    const cl_int status = clBuildProgram(program.get(), 1, &device_, options.c_str(), nullptr, nullptr);
    EXPECT_EQ(status, CL_SUCCESS) << log(program);
    return program;
}

std::string Host::log(const Program& program) const {
    std::size_t size = 0;
    clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    while (!log.empty() && log.back() == '\0') log.pop_back();
    return log;
}

Kernel Host::kernel(const Program& program, const char* name) const {
    cl_int status = -1;
    Kernel kernel(clCreateKernel(program.get(), name, &status));
    EXPECT_EQ(status, CL_SUCCESS) << name;
    return kernel;
}

cl_int Host::run(const Kernel& kernel, const std::vector<std::size_t>& global,
                 const std::vector<std::size_t>& local, const std::vector<std::size_t>& offset) const {
    return clEnqueueNDRangeKernel(queue(), kernel.get(), static_cast<cl_uint>(global.size()),
                                  offset.empty() ? nullptr : offset.data(), global.data(),
                                  local.empty() ? nullptr : local.data(), 0, nullptr, nullptr);
}

}  // namespace trimtab::opencl::test
