// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/emulator_speed/opencl.h"

#if defined(TRIMTAB_HAS_OPENCL)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace trimtab::bench {

struct OpenCl::Objects {
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_program program = nullptr;
    cl_kernel kernel = nullptr;
    std::vector<cl_mem> buffers;
    std::size_t result = 0;
    ~Objects() {
        for (cl_mem buffer : buffers) clReleaseMemObject(buffer);
        if (kernel != nullptr) clReleaseKernel(kernel);
        if (program != nullptr) clReleaseProgram(program);
        if (queue != nullptr) clReleaseCommandQueue(queue);
        if (context != nullptr) clReleaseContext(context);
    }
};

namespace {

cl_device_id find_device() {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return nullptr;
    for (cl_uint i = 0; i < count && i < 8; i++) {
        char name[256] = {};
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
        cl_device_id device = nullptr;
        if (std::string(name).find("Portable") != std::string::npos &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
            return device;
        }
    }
    return nullptr;
}

}  // namespace

OpenCl::OpenCl(const Case& from) : case_(from), objects_(std::make_unique<Objects>()) {
    cl_device_id device = find_device();
    if (device == nullptr) {
        error_ = "PoCL is not installed";
        return;
    }
    Objects& o = *objects_;
    cl_int status = 0;
    o.context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    o.queue = clCreateCommandQueue(o.context, device, 0, &status);
    const char* source = from.opencl.c_str();
    o.program = clCreateProgramWithSource(o.context, 1, &source, nullptr, &status);
    if (clBuildProgram(o.program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) {
        error_ = "PoCL does not compile it";
        return;
    }
    o.kernel = clCreateKernel(o.program, from.kernel.c_str(), &status);
    for (std::size_t i = 0; i < from.arguments.size(); i++) {
        const auto index = static_cast<cl_uint>(i);
        if (const auto* buffer = std::get_if<Case::Buffer>(&from.arguments[i])) {
            std::vector<float> values = initial_values(i, buffer->floats);
            cl_mem made = clCreateBuffer(o.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                         values.size() * sizeof(float), values.data(), &status);
            if (i == from.result) o.result = o.buffers.size();
            o.buffers.push_back(made);
            status |= clSetKernelArg(o.kernel, index, sizeof made, &made);
        } else if (const int* integer = std::get_if<int>(&from.arguments[i])) {
            status |= clSetKernelArg(o.kernel, index, sizeof *integer, integer);
        } else if (const float* real = std::get_if<float>(&from.arguments[i])) {
            status |= clSetKernelArg(o.kernel, index, sizeof *real, real);
        }
    }
    if (status != CL_SUCCESS) error_ = "PoCL's error " + std::to_string(status);
}

OpenCl::~OpenCl() = default;

bool OpenCl::run() {
    const std::size_t global[2] = {std::size_t{case_.grid[0]} * case_.block[0],
                                   std::size_t{case_.grid[1]} * case_.block[1]};
    const std::size_t local[2] = {case_.block[0], case_.block[1]};
    cl_int status = clEnqueueNDRangeKernel(objects_->queue, objects_->kernel, 2, nullptr, global, local, 0,
                                           nullptr, nullptr);
    if (status == CL_SUCCESS) status = clFinish(objects_->queue);
    if (status != CL_SUCCESS) error_ = "PoCL's error " + std::to_string(status);
    return status == CL_SUCCESS;
}

std::vector<float> OpenCl::result() {
    const auto& buffer = std::get<Case::Buffer>(case_.arguments[case_.result]);
    std::vector<float> values(buffer.floats);
    clEnqueueReadBuffer(objects_->queue, objects_->buffers[objects_->result], CL_TRUE, 0,
                        values.size() * sizeof(float), values.data(), 0, nullptr, nullptr);
    return values;
}

}  // namespace trimtab::bench

#else

namespace trimtab::bench {

struct OpenCl::Objects {};
OpenCl::OpenCl(const Case& from) : case_(from), error_("built without OpenCL") {}
OpenCl::~OpenCl() = default;
bool OpenCl::run() {
    return false;
}
std::vector<float> OpenCl::result() {
    return {};
}

}  // namespace trimtab::bench
#endif
